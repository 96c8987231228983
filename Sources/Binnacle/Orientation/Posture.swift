/// How a laptop whose screen folds is set up.
public enum Posture: String, FigureWord, CaseIterable {
    /// The screen lies on the keyboard.
    case closed
    /// The keyboard lies in front of the screen.
    case laptop
    /// The screen is folded back beyond flat: the laptop stands on its edges, or on its keyboard.
    case tent
    /// The screen is folded onto the back of the base.
    case tablet
}
