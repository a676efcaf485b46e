import type { UpstreamRefusedError } from '../../upstream-proxy/index.ts'

/** What the gateway puts into requests of its own accord, by the name of the field. */
export type Addition = 'stream' | 'stream_options' | 'max_tokens'

/** An addition that an upstream refused. */
export interface RefusedAddition {
  readonly addition: Addition
  /** Whether it is refused for good, rather than for what else is in this request. */
  readonly lasting: boolean
}

/**
 * Which addition a refusal is about: by the field that it names, or by its words, which are those of many vendors and servers. Undefined where it is
 * about anything else, or does not prove that nothing was generated: only 400 and 422 do.
 */
export const refusedAddition = ({ response }: UpstreamRefusedError): RefusedAddition | undefined => {
  if ((response.status !== 400 && response.status !== 422) || response.bytes.length > maxErrorBytes) return undefined
  const details = detailsOf(parseIfJson(new TextDecoder().decode(response.bytes)))
  for (const [addition, isAbout] of matchers) {
    const detail = details.find(isAbout)
    if (detail) return { addition, lasting: addition !== 'max_tokens' || !dependsOnInput.test(detail.message) }
  }
  return undefined
}

/** Bytes of an error that is looked into. */
const maxErrorBytes = 2 ** 16

interface ErrorDetail {
  /** Path of a field; empty when none is named. */
  readonly field: string
  readonly message: string
}

const isNamed =
  (name: RegExp, message: RegExp) =>
  (detail: ErrorDetail): boolean =>
    name.test(detail.field) || message.test(detail.message)

const refuses =
  "(?:(?:\\bnot|n['’]t|\\bcannot) (?:be )?(?:support|allow|permit|accept|enable|available|used)|\\bunsupported|\\bunrecogni[sz]ed|\\bunknown|\\bunavailable|\\bdisabled|\\bmust be (?:set to )?false|\\bonly supports? non-)"
/** Not the stream that a sound or a picture is. */
const streamWord = '(?<!\\b(?:audio|video|image|data|media|input|file|byte) )\\bstream(?:ing)?\\b'
const withinSentence = '[^.!?]{0,80}'

/** The most telling first: words about stream options speak of streams too. */
const matchers: readonly (readonly [Addition, (detail: ErrorDetail) => boolean])[] = [
  ['stream_options', isNamed(/^stream_options\b/, /\bstream_options\b|\binclude_usage\b/)],
  [
    'max_tokens',
    isNamed(
      /^max_(?:completion_|output_|new_)?tokens$/,
      /\bmax(?:imum)?[_ ]?(?:completion|output|new)?[_ ]?tokens\b|\bmodel token limit\b|\b\d+ (?:tokens )?(?:in|for) (?:the|your) completion\b|\brequested \d+ output tokens\b/i,
    ),
  ],
  [
    'stream',
    isNamed(
      /^stream$/,
      new RegExp(`${refuses}${withinSentence}${streamWord}|${streamWord}${withinSentence}${refuses}`, 'i'),
    ),
  ],
]

/** Words about a maximum that is too large for what the input leaves of the context. */
const dependsOnInput = /\b(?:context|inputs|input (?:tokens|messages)|prompt|messages|your request exceed)/i

/**
 * What is complained of, in an error of the protocol (`{"error":{"message","param"}}`), in its members without `error`, in a list of texts, and in the lists that
 * frameworks make of fields (`{"detail":[{"loc","msg"}]}`), which some vendors put into a message, as JSON or as text of it.
 */
const detailsOf = (value: unknown, outerField = '', depth = 0): readonly ErrorDetail[] => {
  if (typeof value === 'string') {
    const parsedText = value.startsWith('{') ? parseIfJson(value) : value
    return typeof parsedText === 'string'
      ? [{ field: outerField, message: parsedText }]
      : detailsOf(parsedText, outerField, depth)
  }
  if (typeof value !== 'object' || value === null || depth > 4) return []
  if (Array.isArray(value)) return value.flatMap((each) => detailsOf(each, outerField, depth + 1))
  const { error, detail, message, msg, param, loc } = value as Readonly<Record<string, unknown>>
  const field = Array.isArray(loc) ? loc.filter((step) => step !== 'body').join('.') : String(param ?? '')
  return [error, detail, message, msg].flatMap((member) => detailsOf(member, field, depth + 1))
}

/** JSON as it is, a text as itself. */
const parseIfJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
