/** Whether work goes on in the background: until the signal aborts, or with `true` for as long as the process lives. */
export type RunUntil = AbortSignal | true

const never = new AbortController().signal

/** The signal that ends the work. Undefined: there is no such work. */
export const signalOf = (until: RunUntil | undefined): AbortSignal | undefined => (until === true ? never : until)
