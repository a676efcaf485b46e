import { Buffer } from 'node:buffer'
import { type ContainsCredential, createCredentialSearch } from '../../shared/upstream/credentials.ts'
import { UpstreamInvalidError } from '../../shared/upstream/upstream-error.ts'
import type { Frame } from '../../sse-relay/index.ts'
import { TextEvent } from '../events/event.ts'
import { endOfString, outputIndexOf, pieceMembers, type TemplateHole } from '../events/template.ts'
import type { TextUpstream } from '../models/routing.ts'

/**
 * The credentials of an upstream: its key, and the values of headers for credentials, without the scheme of
 * `authorization` (RFC 9110 section 11.6.2).
 */
export const credentialsOf = ({ key, headers = {} }: TextUpstream): readonly string[] => {
  const values = Object.entries(headers).filter(([name]) => credentialHeader.test(name))
  return [key, ...values.map(([, value]) => value.replace(/^[\w-]+ +(?=\S+$)/, ''))].filter(
    (credential) => credential !== undefined && credential !== '',
  ) as readonly string[]
}

const credentialHeader = /auth|key|token|secret|cookie|password|credential|signature|session/i

/**
 * Throws UpstreamInvalidError when a part of a response contains the upstream's credential, in any encoding that
 * `createCredentialSearch` finds.
 */
export const requireNoCredential = (upstream: TextUpstream, part: Uint8Array | string): void => {
  if (containsCredentialOf(upstream)(part)) throw credentialError()
}

const credentialError = () => new UpstreamInvalidError('the response contains a credential')

/**
 * Creates the same check for the frames of one stream. It also finds a credential that the generated text spells out
 * over several events.
 */
export const createStreamCredentialCheck = (upstream: TextUpstream): ((frame: Frame) => void) => {
  const form = formOf(upstream)
  if (!form) return () => {}
  const { minLength, maxLength, hasSpaces, hasQuotes } = form
  const containsCredential = containsCredentialOf(upstream)
  const check = (part: Uint8Array | string) => {
    if (containsCredential(part)) throw credentialError()
  }
  const generatedTexts: GeneratedText[] = []
  const checkPiece = (member: string, outputIndex: string, piece: string) => {
    let text = generatedTexts.find((one) => one.member === member && one.outputIndex === outputIndex)
    if (!text) {
      if (generatedTexts.length === maxTexts) return check(piece)
      text = { member, outputIndex, end: '' }
      generatedTexts.push(text)
    }
    const joined = text.end + piece
    // A text shorter than the credential cannot contain it.
    if (joined.length >= minLength) check(joined)
    text.end = joined.slice(Math.max(joined.length - 8 * maxLength, hasSpaces ? 0 : joined.lastIndexOf(' ') + 1))
  }
  return (frame) => {
    const { event } = frame
    // A credential without quotes has none in any encoding. So every occurrence lies within one JSON string.
    if (hasQuotes || !(event instanceof TextEvent) || !event.template) {
      check(textOf(frame, minLength))
      if (event) forEachPiece(event.data, checkPiece)
      return
    }
    // The rest of the event equals the first event of this template, which has been checked.
    const { template, pieces } = event
    for (let index = 0; index < pieces.length; index++) {
      const { member, kind } = template.holes[index] as TemplateHole
      const piece = pieces[index] as string
      if (kind === 'piece' && piece !== '') checkPiece(member, template.outputIndex, piece)
      else if (kind === 'filler' && piece.length >= minLength) check(piece)
    }
  }
}

/** A generated text, for example the content of a choice. */
interface GeneratedText {
  readonly member: string
  readonly outputIndex: string
  /**
   * The end of the text, as JSON source: each character may be escaped. It starts after the last space, because no
   * encoding of a credential without spaces contains one.
   */
  end: string
}

/** The protocol's maximum number of choices. */
const maxTexts = 128

/**
 * The part of a frame to search: the data of its event, which is decoded already, or all bytes if the rest of the frame
 * could hold the credential.
 */
const textOf = ({ bytes, event }: Frame, length: number): Uint8Array | string => {
  if (!event || event.type.length >= length) return bytes
  const otherBytes = bytes.length - Buffer.byteLength(event.data) - event.type.length
  return otherBytes < length ? event.data : bytes
}

/** What is known of the texts that the check of a stream searches. */
interface CredentialForm {
  /** Length of the shortest credential, and of the longest one. */
  readonly minLength: number
  readonly maxLength: number
  readonly hasSpaces: boolean
  readonly hasQuotes: boolean
}

const forms = new WeakMap<TextUpstream, { readonly form: CredentialForm | undefined }>()

/** Undefined: the upstream has no credential. */
const formOf = (upstream: TextUpstream): CredentialForm | undefined => {
  const known = forms.get(upstream)
  if (known) return known.form
  const credentials = credentialsOf(upstream)
  const lengths = credentials.map(({ length }) => length)
  const form =
    credentials.length === 0
      ? undefined
      : {
          minLength: Math.min(...lengths),
          maxLength: Math.max(...lengths),
          hasSpaces: credentials.some((credential) => credential.includes(' ')),
          hasQuotes: credentials.some((credential) => credential.includes('"')),
        }
  forms.set(upstream, { form })
  return form
}

const searches = new WeakMap<TextUpstream, ContainsCredential>()

/** The compiled search for an upstream's credentials. */
export const containsCredentialOf = (upstream: TextUpstream): ContainsCredential => {
  const containsCredential = searches.get(upstream) ?? createCredentialSearch(credentialsOf(upstream))
  searches.set(upstream, containsCredential)
  return containsCredential
}

const pieceStart = new RegExp(`"(${pieceMembers})"\\s*:\\s*"`, 'g')

/** Calls `checkPiece` for every generated piece in the data of an event, with the choice or item that it belongs to. */
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
