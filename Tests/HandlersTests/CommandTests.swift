import Testing

/// What runs programs; one after the other, because each of these tests makes its own load.
@Suite(.serialized) struct CommandTests {}
