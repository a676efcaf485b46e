import { parsedJson } from '../../shared/json/parsed.ts'

/** Members of both protocols that hold a piece of generated text. */
export const pieceMembers =
  'content|reasoning_content|reasoning|thinking|refusal|text|delta|arguments|input|transcript|stdout|stderr'

/** The index of the choice or output item of an event, as text; empty when it has none. */
export const outputIndexOf = (data: string): string => outputIndex.exec(data)?.[1] ?? ''

const outputIndex = /"(?:output_)?index"\s*:\s*(\d{1,4})/

/** A position at which the events of a stream differ. */
export interface TemplateHole {
  readonly member: string
  /** `piece`: a piece of generated text; `filler`: the padding in `obfuscation`; `count`: `sequence_number`. */
  readonly kind: 'piece' | 'filler' | 'count'
}

/**
 * The common part of similar events: everything but the generated text and the sequence number.
 *
 * Most events of a stream match one template. A check of one event then holds for all others with the same template,
 * except for the text in the holes.
 */
export class EventTemplate {
  readonly holes: readonly TemplateHole[]
  /** See `outputIndexOf`. */
  readonly outputIndex: string
  /** The text before, between and after the holes. */
  readonly #fixed: readonly string[]
  /** Characters before and after the data. */
  readonly #prefixLength: number
  readonly #suffixLength: number

  private constructor(text: string, data: string, holes: readonly TemplateHole[], fixed: readonly string[]) {
    this.holes = holes
    this.outputIndex = outputIndexOf(data)
    this.#prefixLength = text.indexOf(data)
    this.#suffixLength = text.length - this.#prefixLength - data.length
    this.#fixed = fixed
  }

  /** The text in the holes, as JSON source. Undefined when the text does not match. */
  match(text: string): readonly string[] | undefined {
    const fixed = this.#fixed
    const pieces: string[] = []
    let at = 0
    for (let index = 0; index < fixed.length; index++) {
      const part = fixed[index] as string
      if (!text.startsWith(part, at)) return undefined
      const from = at + part.length
      const hole = this.holes[index]
      if (!hole) return from === text.length ? pieces : undefined
      at = hole.kind === 'count' ? endOfNumber(text, from) : endOfString(text, from)
      const piece = text.slice(from, at)
      // Another line could be another field of the event.
      if (piece.includes('\n') || piece.includes('\r')) return undefined
      pieces.push(piece)
    }
    return undefined
  }

  /** The text of an event with these pieces. */
  fill(pieces: readonly string[]): string {
    return this.#fixed.map((fixed, index) => fixed + (pieces[index] ?? '')).join('')
  }

  /** The data of an event with these pieces. */
  dataOf(pieces: readonly string[]): string {
    const text = this.fill(pieces)
    return text.slice(this.#prefixLength, text.length - this.#suffixLength)
  }

  /** Whether the pieces are valid JSON. */
  isJson(pieces: readonly string[]): boolean {
    return pieces.every(
      (piece, index) => parsedJson(this.holes[index]?.kind === 'count' ? piece : `"${piece}"`) !== undefined,
    )
  }

  /** Whether both templates have the same members in their holes. */
  hasHolesOf({ holes }: EventTemplate): boolean {
    return (
      this.holes.length === holes.length && this.holes.every(({ member }, index) => member === holes[index]?.member)
    )
  }

  /**
   * Creates a template from the text of an event whose data is JSON on one line. Undefined when it has no generated
   * text.
   */
  static of(text: string, data: string): EventTemplate | undefined {
    const start = text.indexOf(data)
    if (start === -1 || data.includes('\n')) return undefined
    const holes: TemplateHole[] = []
    const fixed: string[] = []
    let at = 0
    for (const { index, 0: found, 1: piece, 2: filler, 3: count } of data.matchAll(variablePart)) {
      const end = start + index + found.length
      const from = count === undefined ? end : end - count.length
      fixed.push(text.slice(at, from))
      holes.push(holeOf(piece, filler))
      at = count === undefined ? endOfString(text, end) : end
    }
    fixed.push(text.slice(at))
    return holes.some(({ kind }) => kind !== 'count') ? new EventTemplate(text, data, holes, fixed) : undefined
  }
}

const holeOf = (piece: string | undefined, filler: string | undefined): TemplateHole => {
  if (piece !== undefined) return { member: piece, kind: 'piece' }
  return filler === undefined ? { member: 'sequence_number', kind: 'count' } : { member: filler, kind: 'filler' }
}

/**
 * Maximum digits of a sequence number. With the characters around it, up to the quotes (`:12345,`), it is shorter than
 * any credential that is searched.
 */
const maxDigits = 5

const variablePart = new RegExp(
  `"(${pieceMembers})"\\s*:\\s*"|"(obfuscation)"\\s*:\\s*"|"sequence_number":(\\d{1,${maxDigits}})(?=,")`,
  'g',
)

const endOfNumber = (text: string, from: number): number => {
  let at = from
  while (at < from + maxDigits && isDigit(text.charCodeAt(at))) at++
  return at
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** Position of the quote that ends a JSON string, or of the end of the text. */
export const endOfString = (json: string, from: number): number => {
  for (let quote = json.indexOf('"', from); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let at = quote
    while (json[at - 1] === '\\' && at > from) at--
    if ((quote - at) % 2 === 0) return quote
  }
  return json.length
}
