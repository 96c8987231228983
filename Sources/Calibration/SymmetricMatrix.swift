/// A small symmetric matrix, of which only what a fit needs is known: its eigenvalues and eigenvectors.
///
/// Its own routine, because Jacobi's rotations are twenty lines that converge for every symmetric matrix, find small
/// eigenvalues as exactly as large ones, and serve for all there is to do here: least squares, null directions, roots and
/// condition numbers. LAPACK would be a Fortran runtime on every machine for matrices of ten rows.
struct SymmetricMatrix {
    /// The number of rows.
    let size: Int
    private var elements: [Double]

    /// All zeros.
    init(size: Int) {
        self.size = size
        elements = [Double](repeating: 0, count: size * size)
    }

    /// An element; setting one sets its mirror image, too.
    subscript(row: Int, column: Int) -> Double {
        get { elements[row * size + column] }
        set {
            elements[row * size + column] = newValue
            elements[column * size + row] = newValue
        }
    }

    /// Adds the product of a row of a design matrix with itself.
    mutating func add(_ row: [Double]) {
        for i in 0..<size {
            for j in 0...i { self[i, j] += row[i] * row[j] }
        }
    }

    /// The eigenvalues, rising, and an eigenvector of length 1 for each.
    ///
    /// Cyclic Jacobi rotations; source: Golub and Van Loan, *Matrix Computations*, 4th edition, section 8.5.
    func eigen() -> [(value: Double, vector: [Double])] {
        var matrix = self
        // Row i is the i-th vector that becomes an eigenvector.
        var vectors = (0..<size).map { row in (0..<size).map { $0 == row ? 1.0 : 0.0 } }
        for _ in 0..<Self.mostSweeps {
            var isDiagonal = true
            for p in 0..<size {
                for q in p + 1..<max(size, p + 1) where matrix.rotate(p, q, &vectors) { isDiagonal = false }
            }
            if isDiagonal { break }
        }
        return (0..<size).map { (matrix[$0, $0], vectors[$0]) }.sorted { $0.0 < $1.0 }
    }

    /// Each sweep squares what is left beside the diagonal; eight are enough for a hundred rows.
    private static let mostSweeps = 64

    /// Turns the axes p and q so that their element becomes 0.
    ///
    /// - Returns: Whether anything was left to turn.
    private mutating func rotate(_ p: Int, _ q: Int, _ vectors: inout [[Double]]) -> Bool {
        let across = self[p, q]
        let scale = (self[p, p] * self[q, q]).magnitude.squareRoot()
        guard across.magnitude > 1e-17 * scale, across.magnitude > .leastNormalMagnitude else { return false }
        let theta = (self[q, q] - self[p, p]) / (2 * across)
        let tangent = (theta < 0 ? -1 : 1) / (theta.magnitude + (theta * theta + 1).squareRoot())
        let cosine = 1 / (tangent * tangent + 1).squareRoot()
        let sine = tangent * cosine
        self[p, p] -= tangent * across
        self[q, q] += tangent * across
        self[p, q] = 0
        for i in 0..<size {
            if i != p, i != q {
                let (a, b) = (self[i, p], self[i, q])
                self[i, p] = cosine * a - sine * b
                self[i, q] = sine * a + cosine * b
            }
            let (a, b) = (vectors[p][i], vectors[q][i])
            vectors[p][i] = cosine * a - sine * b
            vectors[q][i] = sine * a + cosine * b
        }
        return true
    }

    /// The solution of M·x = b.
    ///
    /// - Returns: `nil` when the matrix is singular within what Double tells apart.
    func solve(_ right: [Double]) -> [Double]? {
        let eigen = eigen()
        let largest = eigen.map(\.value.magnitude).max() ?? 0
        var solution = [Double](repeating: 0, count: size)
        for (value, vector) in eigen {
            guard value.magnitude > 1e-13 * largest else { return nil }
            let share = zip(vector, right).reduce(0) { $0 + $1.0 * $1.1 } / value
            for i in 0..<size { solution[i] += share * vector[i] }
        }
        return solution
    }
}
