/** A value at a moment, in seconds. */
export interface Sample {
  readonly at: number
  readonly value: number
}

/** The slope of the straight line through the samples by least squares, in values per second. 0: fewer than two moments. */
export const slopeOf = (samples: readonly Sample[]): number => {
  const mean = (of: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / Math.max(1, samples.length)
  const [at, value] = [mean((sample) => sample.at), mean((sample) => sample.value)]
  const spread = mean((sample) => (sample.at - at) ** 2)
  return spread === 0 ? 0 : mean((sample) => (sample.at - at) * (sample.value - value)) / spread
}
