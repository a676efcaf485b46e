import { Buffer } from 'node:buffer'
import { type ContainsCredential, createCredentialSearch } from '../../shared/credentials.ts'
import type { Frame } from '../../sse-relay/index.ts'
import { UpstreamInvalidError } from '../../upstream-proxy/index.ts'
import { TextEvent } from '../events/event.ts'
import { endOfString, outputIndexOf, pieceMembers, type TemplateHole } from '../events/template.ts'
import type { TextUpstream } from './model-routing.ts'

/** Throws Invalid when something that is to be shown to a caller holds the upstream's credential, in whatever disguise. */
export const refuseCredentials = (upstream: TextUpstream, part: Uint8Array | string): void => {
  if (containsCredentialOf(upstream)(part)) throw credentialError()
}

const credentialError = () => new UpstreamInvalidError('an answer that contains a credential')

/** The same for the frames of one stream, one after the other, also where what is generated spells the credential out over several events. */
export const watchCredentials = (upstream: TextUpstream): ((frame: Frame) => void) => {
  const { key = '' } = upstream
  if (key === '') return () => {}
  const containsCredential = containsCredentialOf(upstream)
  const check = (part: Uint8Array | string) => {
    if (containsCredential(part)) throw credentialError()
  }
  const hasSpaces = key.includes(' ')
  // No form of it but this one has a quote: then it stands between two of them.
  const isInOneString = !key.includes('"')
  const generatedTexts: GeneratedText[] = []
  const checkPiece = (member: string, outputIndex: string, piece: string) => {
    let text = generatedTexts.find((one) => one.member === member && one.outputIndex === outputIndex)
    if (!text) {
      if (generatedTexts.length === maxTexts) return check(piece)
      text = { member, outputIndex, end: '' }
      generatedTexts.push(text)
    }
    const joined = text.end + piece
    // Of words of a common length hardly any is searched twice.
    if (joined.length >= key.length) check(joined)
    text.end = joined.slice(Math.max(joined.length - 8 * key.length, hasSpaces ? 0 : joined.lastIndexOf(' ') + 1))
  }
  return (frame) => {
    const { event } = frame
    if (!isInOneString || !(event instanceof TextEvent) || !event.likeness) {
      check(textOf(frame, key))
      if (event) forEachPiece(event.data, checkPiece)
      return
    }
    // All else has been looked at in the first event of this kind.
    const { likeness, pieces } = event
    for (let index = 0; index < pieces.length; index++) {
      const { member, kind } = likeness.holes[index] as TemplateHole
      const piece = pieces[index] as string
      if (kind === 'piece' && piece !== '') checkPiece(member, likeness.outputIndex, piece)
      else if (kind === 'filler' && piece.length >= key.length) check(piece)
    }
  }
}

/** A text that is generated: the content of a choice, for example. */
interface GeneratedText {
  readonly member: string
  readonly outputIndex: string
  /** As JSON has it: each character may be escaped. Back to the last blank, which no form of a credential has. */
  end: string
}

/** As many choices as the protocol allows. */
const maxTexts = 128

/** The data of an event, which has been decoded already, unless there is room for the credential elsewhere in its frame. */
const textOf = ({ bytes, event }: Frame, { length }: string): Uint8Array | string => {
  if (!event || event.type.length >= length) return bytes
  const otherBytes = bytes.length - Buffer.byteLength(event.data) - event.type.length
  return otherBytes < length ? event.data : bytes
}

const searches = new WeakMap<TextUpstream, ContainsCredential>()

/** Looks for an upstream's credential. */
export const containsCredentialOf = (upstream: TextUpstream): ContainsCredential => {
  const containsCredential = searches.get(upstream) ?? createCredentialSearch([upstream.key])
  searches.set(upstream, containsCredential)
  return containsCredential
}

const pieceStart = new RegExp(`"(${pieceMembers})"\\s*:\\s*"`, 'g')

/** Tells of every piece which text it is a piece of: several may grow at once. */
const forEachPiece = (data: string, checkPiece: (member: string, outputIndex: string, piece: string) => void): void => {
  let outputIndex: string | undefined
  pieceStart.lastIndex = 0
  for (let match = pieceStart.exec(data); match; match = pieceStart.exec(data)) {
    const from = pieceStart.lastIndex
    const end = endOfString(data, from)
    if (from === end) continue
    outputIndex ??= outputIndexOf(data)
    checkPiece(match[1] as string, outputIndex, data.slice(from, end))
  }
}
