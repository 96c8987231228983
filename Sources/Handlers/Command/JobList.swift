/// Jobs in the order in which they came.
typealias JobList = FirstInList<CommandJob>
