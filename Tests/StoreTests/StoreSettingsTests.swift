import Store
import Testing

@Test func theDefaultsAreThoseOfTheManual() {
    #expect(EventStoreSettings(path: "x").keepDays == 30)
}
