import EventSocket
import Testing

@Test func theDefaultsAreThoseOfTheManual() {
    #expect(SocketSettings(path: "x").mode == 0o660)
}
