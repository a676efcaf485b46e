import type { Json, MemberChange } from '../../shared/json/json.ts'
import { type ErrorDetail, errorDetails } from '../../shared/upstream/error-details.ts'
import type { UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'

/** A field that the gateway adds to requests, or a setting of another protocol that it passes on. */
export type Addition = 'stream' | 'stream_options' | 'max_tokens' | 'reasoning_effort' | PassedSetting

/**
 * Settings that bridged requests pass on to upstreams that know them. Without them the response costs more, is longer
 * or has more calls, but is as right.
 */
export const passedSettings = [
  'verbosity',
  'parallel_tool_calls',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
] as const

type PassedSetting = (typeof passedSettings)[number]

/** An added field that an upstream has rejected. */
export interface RejectedAddition {
  readonly addition: Addition
  /** Whether the upstream would reject it again. If false, it only conflicts with the length of this input. */
  readonly permanent: boolean
}

/**
 * Finds the added field that an error is about, by the field that the error names or by its message.
 *
 * The patterns cover the messages of many vendors and servers. Undefined when the error is about anything else, or has
 * a status other than 400 and 422: only these prove that the upstream has generated nothing.
 */
export const rejectedAddition = ({ response }: UpstreamRejectedError): RejectedAddition | undefined => {
  if (response.status !== 400 && response.status !== 422) return undefined
  const details = errorDetails(response)
  for (const [addition, isAbout] of matchers) {
    const detail = details.find(isAbout)
    if (detail) return { addition, permanent: addition !== 'max_tokens' || !dependsOnInput.test(detail.message) }
  }
  return undefined
}

const isNamed =
  (name: RegExp, message: RegExp) =>
  (detail: ErrorDetail): boolean =>
    name.test(detail.field) || message.test(detail.message)

const notSupported =
  "(?:(?:\\bnot|n['’]t|\\bcannot) (?:be )?(?:support|allow|permit|accept|enable|available|used)|\\bunsupported|\\bunrecogni[sz]ed|\\bunknown|\\bunavailable|\\bdisabled|\\bmust be (?:set to )?false|\\bonly supports? non-)"
/** Matches "stream" and "streaming", but not "audio stream" and similar. */
const streamWord = '(?<!\\b(?:audio|video|image|data|media|input|file|byte) )\\bstream(?:ing)?\\b'
const withinSentence = '[^.!?]{0,80}'

/** The most specific first: messages about stream options contain "stream" too. */
const matchers: readonly (readonly [Addition, (detail: ErrorDetail) => boolean])[] = [
  ['stream_options', isNamed(/^stream_options\b/, /\bstream_options\b|\binclude_usage\b/)],
  [
    'max_tokens',
    isNamed(
      /^max_(?:completion_|output_|new_)?tokens$/,
      /\bmax(?:imum)?[_ ]?(?:completion|output|new)?[_ ]?tokens\b|\bmodel token limit\b|\b\d+ (?:tokens )?(?:in|for) (?:the|your) completion\b|\brequested \d+ output tokens\b/i,
    ),
  ],
  ...(['reasoning_effort', ...passedSettings] as const).map(
    (name) => [name, isNamed(new RegExp(`^${name}\\b`), new RegExp(`\\b${name}\\b`))] as const,
  ),
  [
    'stream',
    isNamed(
      /^stream$/,
      new RegExp(`${notSupported}${withinSentence}${streamWord}|${streamWord}${withinSentence}${notSupported}`, 'i'),
    ),
  ],
]

/** Messages about a maximum that is too large because of the length of the input. */
const dependsOnInput = /\b(?:context|inputs|input (?:tokens|messages)|prompt|messages|your request exceed)/i

/** Changes that remove the fields about streaming, which both protocols share. */
export const withoutStreamFields: readonly MemberChange[] = [
  ['stream', undefined],
  ['stream_options', undefined],
]

/** The request without the fields about streaming: for an upstream that cannot stream. */
export const withoutStream = (request: Json): Json => request.edit(withoutStreamFields)
