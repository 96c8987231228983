/// What has become of one stream's samples so far.
package struct StreamStatistics {
    package let stream: SampleStream
    /// The samples that were offered to the detectors.
    package internal(set) var sampleCount = 0
    /// The stamp of the last sample, in nanoseconds; `nil` before the first.
    package internal(set) var lastTimeNanoseconds: Int64?
    /// Samples a second, by their own stamps, over the last second or more that is complete; `nil` before that.
    package internal(set) var rateHz: Double?
    /// How often samples were lost on their way from the device.
    package internal(set) var lossCount = 0
    /// How many samples that were, as far as it could be estimated.
    package internal(set) var lostSampleCount = 0
    /// How often the stream was interrupted.
    package internal(set) var gapCount = 0
}
