const isQuick = process.env.SLUICE_QUICK !== undefined

/**
 * Where a suite shows the same promise again: further databases, runtimes, fronts of the server or kinds of upstream. `bun run test` runs the suite on the first one,
 * `bun run test --all` on each, and so does `bun test` with the file.
 */
export const repetitions = <T>(...all: readonly T[]): readonly T[] => (isQuick ? all.slice(0, 1) : all)

/** How often a test repeats something random or large: the first number of times with `bun run test`, the second one as above. */
export const repeats = (quick: number, all: number): number => (isQuick ? quick : all)
