/** What to change in a request, so that the vendor may accept it. */
export type FailureChange = (typeof failureChanges)[number]

/** Every value of `FailureAdvice.change`. */
export const failureChanges = [
  ...['other_prompt', 'other_picture', 'other_video', 'other_audio', 'without_audio', 'register_face'],
  ...['smaller', 'larger', 'shorter', 'longer', 'other_ratio', 'other_format', 'other_frame_rate', 'with_audio'],
  ...['reachable_address', 'parameter', 'other_model'],
] as const satisfies readonly string[]

/** What can be done about an error code of the vendor. */
export interface FailureAdvice {
  /** The code, or the part of it before a dot that has an entry. */
  readonly code: string
  /** Whether the same request may succeed later. */
  readonly retry: boolean
  /** Seconds to wait before another try. Null: it need not wait, or it makes no sense. */
  readonly retry_after: number | null
  /** What to change before another try. Null: nothing in the request is wrong. */
  readonly change: FailureChange | null
  /** Who can remove the cause: whoever sent the request, the operator of the gateway, or the vendor. */
  readonly by: 'caller' | 'operator' | 'vendor'
  /** One or two sentences for a person. */
  readonly text: { readonly en: string; readonly zh: string }
}

/** An entry of the list. Defaults: no other try, nothing to change, the caller. */
export interface FailureEntry extends Partial<Omit<FailureAdvice, 'code' | 'text'>> {
  /** A message for which the entry is meant, where the code alone does not tell. */
  readonly message?: RegExp
  readonly en: string
  readonly zh: string
}

/** Entries by code. Where a code has several, the first counts whose `message` fits. */
export type FailureEntries = Readonly<Record<string, FailureEntry | readonly FailureEntry[]>>
