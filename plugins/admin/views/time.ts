// The admin API and the command line show objects as these files say. Times are ISO 8601, in UTC.

/** A time as ISO 8601, in UTC. */
export const isoTime = (time: number): string => new Date(time).toISOString()

/** The same; null for a time that is not known. */
export const isoOrNull = (time: number | undefined): string | null => (time === undefined ? null : isoTime(time))
