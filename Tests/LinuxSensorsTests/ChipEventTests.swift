import LinuxSensors
import Testing

/// What the names of the kernel's attributes say about a chip's events.
@Suite struct ChipEventTests {
    struct Name: CustomTestStringConvertible {
        let switchName: String
        let words: String
        let type: String?
        var direction = ""
        var modifier = ""
        var testDescription: String { switchName }
    }

    @Test(arguments: [
        Name(
            switchName: "in_accel_x_thresh_either_en", words: "thresh either on x", type: "thresh", direction: "either",
            modifier: "x"),
        Name(
            switchName: "in_accel_x&y&z_mag_falling_en", words: "mag falling on x&y&z", type: "mag",
            direction: "falling",
            modifier: "x&y&z"),
        Name(switchName: "in_accel_mag_rising_en", words: "mag rising", type: "mag", direction: "rising"),
        Name(
            switchName: "in_accel_x_mag_adaptive_rising_en", words: "mag_adaptive rising on x", type: "mag_adaptive",
            direction: "rising", modifier: "x"),
        Name(
            switchName: "in_accel_x|y|z_roc_rising_en", words: "roc rising on x|y|z", type: "roc", direction: "rising",
            modifier: "x|y|z"),
        Name(
            switchName: "in_accel_gesture_singletap_en", words: "gesture singletap", type: "gesture",
            direction: "singletap"),
        Name(switchName: "in_steps_change_en", words: "change of steps", type: "change"),
        Name(switchName: "in_activity_change_en", words: "change of activity", type: "change"),
        Name(
            switchName: "in_activity_walking_thresh_rising_en", words: "thresh rising of activity_walking",
            type: "thresh", direction: "rising", modifier: "walking"),
        Name(switchName: "in_proximity_change_en", words: "change of proximity", type: "change"),
        Name(
            switchName: "in_accel_x_fault_openwire_en", words: "fault openwire on x", type: "fault",
            direction: "openwire", modifier: "x"),
        Name(
            switchName: "in_accel_x_unheard_of_en", words: "in_accel_x_unheard_of", type: nil, modifier: "x_unheard_of"),
        Name(switchName: "_en", words: "", type: nil),
        Name(switchName: "in_en", words: "in", type: nil),
    ])
    func namesAreRead(_ name: Name) throws {
        let event = try #require(ChipEvent(switchName: name.switchName))
        #expect(event.words == name.words)
        #expect(event.type == name.type)
        #expect(event.direction == name.direction)
        #expect(event.modifier == name.modifier)
    }

    @Test func otherAttributesAreNoEvents() {
        #expect(ChipEvent(switchName: "in_accel_mag_rising_value") == nil)
        #expect(ChipEvent(switchName: "") == nil)
    }
}
