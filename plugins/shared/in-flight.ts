/** What is counted of one request while it is in flight. Each of these throws Problem 429 when its user has too much at once, 503 when everybody together has. */
export interface InFlight {
  /** It is known whose the request is. Said again, it counts once. */
  identified(user: string): void
  /** So many bytes of a body are about to be read, and will be held until the request is over. */
  reading(bytes: number): void
  /** The answer is a stream: the request is over no sooner than `streamed` is called. */
  streaming(): void
  /** The stream has ended, in whatever way. Nothing happens where it had, or never began. */
  streamed(): void
  /** So many bytes of the answer are held until its caller reads on, or has left. Where this throws, the answer has to be given up. */
  sending(bytes: number): void
  /** They are held no longer. */
  sent(): void
}

const inFlight = Symbol('in flight')

/** What plugins keep of a request, they keep at the request: an entry of a WeakMap costs ten times as much, and the garbage collector more. */
type Counted = Request & { [inFlight]?: InFlight }

/** Lets whoever handles a request tell what it takes up. */
export const countInFlight = (request: Counted, counted: InFlight): void => {
  request[inFlight] = counted
}

/** Undefined where nothing is counted. */
export const inFlightOf = (request: Counted): InFlight | undefined => request[inFlight]
