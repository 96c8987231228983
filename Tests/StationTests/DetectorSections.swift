import Configuration

/// The sections of each kind of detector, as tests name them.
extension Configuration {
    var motions: [MotionSection] { sections() }
    var norths: [NorthSection] { sections() }
    var attitudes: [AttitudeSection] { sections() }
    var orientations: [OrientationSection] { sections() }
    var hinges: [HingeSection] { sections() }
    var taps: [TapSection] { sections() }
    var steps: [StepsSection] { sections() }
    var rests: [StationarySection] { sections() }
    var lights: [LightSection] { sections() }
    var proximities: [ProximitySection] { sections() }
}
