import { Buffer } from 'node:buffer'
import { type ContainsCredential, createCredentialSearch } from '../../shared/credentials.ts'
import type { Frame } from '../../sse-relay/index.ts'
import { UpstreamInvalidError } from '../../upstream-proxy/index.ts'
import { TextEvent } from '../events/event.ts'
import { endOfString, pieceMembers, placeIn, type TemplateHole } from '../events/template.ts'
import type { TextUpstream } from './model-routing.ts'

/** Throws Invalid when something that is to be shown to a caller holds the upstream's credential, in whatever disguise. */
export const refuseCredentials = (upstream: TextUpstream, part: Uint8Array | string): void => {
  if (revealsOf(upstream)(part)) throw revealing()
}

const revealing = () => new UpstreamInvalidError('an answer that contains a credential')

/** The same for the frames of one stream, one after the other, also where what is generated spells the credential out over several events. */
export const watchCredentials = (upstream: TextUpstream): ((frame: Frame) => void) => {
  const { key = '' } = upstream
  if (key === '') return () => {}
  const reveals = revealsOf(upstream)
  const check = (part: Uint8Array | string) => {
    if (reveals(part)) throw revealing()
  }
  const hasBlanks = key.includes(' ')
  // No form of it but this one has a quote: then it stands between two of them.
  const isInOneString = !key.includes('"')
  const texts: Text[] = []
  const hear = (member: string, place: string, piece: string) => {
    let text = texts.find((one) => one.member === member && one.place === place)
    if (!text) {
      if (texts.length === maxTexts) return check(piece)
      text = { member, place, end: '' }
      texts.push(text)
    }
    const all = text.end + piece
    // Of words of a common length hardly any is searched twice.
    if (all.length >= key.length) check(all)
    text.end = all.slice(Math.max(all.length - 8 * key.length, hasBlanks ? 0 : all.lastIndexOf(' ') + 1))
  }
  return (frame) => {
    const { event } = frame
    if (!isInOneString || !(event instanceof TextEvent) || !event.likeness) {
      check(partOf(frame, key))
      if (event) eachPiece(event.data, hear)
      return
    }
    // All else has been looked at in the first event of this kind.
    const { likeness, pieces } = event
    for (let nth = 0; nth < pieces.length; nth++) {
      const { member, kind } = likeness.holes[nth] as TemplateHole
      const piece = pieces[nth] as string
      if (kind === 'piece' && piece !== '') hear(member, likeness.place, piece)
      else if (kind === 'filler' && piece.length >= key.length) check(piece)
    }
  }
}

/** A text that is generated: the content of a choice, for example. */
interface Text {
  readonly member: string
  readonly place: string
  /** As JSON has it: each character may be escaped. Back to the last blank, which no form of a credential has. */
  end: string
}

/** As many choices as the protocol allows. */
const maxTexts = 128

/** The data of an event, which has been decoded already, unless there is room for the credential elsewhere in its frame. */
const partOf = ({ bytes, event }: Frame, { length }: string): Uint8Array | string => {
  if (!event || event.type.length >= length) return bytes
  const beside = bytes.length - Buffer.byteLength(event.data) - event.type.length
  return beside < length ? event.data : bytes
}

const known = new WeakMap<TextUpstream, ContainsCredential>()

/** Looks for an upstream's credential. */
export const revealsOf = (upstream: TextUpstream): ContainsCredential => {
  const reveals = known.get(upstream) ?? createCredentialSearch([upstream.key])
  known.set(upstream, reveals)
  return reveals
}

const beginning = new RegExp(`"(${pieceMembers})"\\s*:\\s*"`, 'g')

/** Tells of every piece which text it is a piece of: several may grow at once. */
const eachPiece = (data: string, hear: (member: string, place: string, piece: string) => void): void => {
  let at: string | undefined
  beginning.lastIndex = 0
  for (let begun = beginning.exec(data); begun; begun = beginning.exec(data)) {
    const from = beginning.lastIndex
    const end = endOfString(data, from)
    if (from === end) continue
    at ??= placeIn(data)
    hear(begun[1] as string, at, data.slice(from, end))
  }
}
