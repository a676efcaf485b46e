/** Objects that a text upstream keeps for its account, and whose owners the gateway knows: it has seen them being given to somebody. */
export type ObjectKind = 'response' | 'conversation' | 'item'

/** An object of the account, and who was given it. Times are milliseconds since 1970. */
export interface TextObject {
  readonly kind: ObjectKind
  readonly id: string
  readonly user: string
  /** Id of the token that was used, where there is one. */
  readonly token?: string
  /** Address of the upstream that keeps it. */
  readonly upstream: string
  /** As the caller named it. */
  readonly model: string
  readonly createdAt: number
  /** From then on nobody owns it. */
  readonly expiresAt: number
  /** A response in the background whose usage has not been recorded yet: when the upstream is to be asked for it. */
  readonly dueAt?: number
}

/** The port: who was given what. Every method rejects when the store cannot be asked within its own deadline; none ever hangs. */
export interface TextObjectStore {
  /** Keeps objects, all or none, and gives those of them that are somebody else's: they stay so. An owner of before gets the new record. */
  recordTextObjects(objects: readonly TextObject[]): Promise<readonly Pick<TextObject, 'kind' | 'id'>[]>
  /** The object, if it is the user's. One that is nobody's and one that is somebody else's cost the same question. */
  textObject(user: string, kind: ObjectKind, id: string, now: number): Promise<TextObject | undefined>
  /** Forgets an object of a user's. */
  removeTextObject(object: Pick<TextObject, 'kind' | 'id' | 'user'>): Promise<void>
  /** Responses whose usage is due, longest due first. */
  dueTextResponses(now: number, max: number): Promise<readonly TextObject[]>
  /** Puts a due response off until then. False when somebody else has done so, or its usage has been recorded. */
  deferTextResponse(due: TextObject, until: number): Promise<boolean>
  /** Marks the usage of a response as recorded. False when it was before: of all who ask, in any process, one gets true. */
  markUsageRecorded(id: string): Promise<boolean>
  /** Forgets objects that have expired, at most so many. Gives how many they were. */
  sweepTextObjects(now: number, max: number): Promise<number>
}
