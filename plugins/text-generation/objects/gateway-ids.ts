import type { Json } from '../../shared/json/json.ts'
import { sealedPrefix } from '../protocol/sealed-reasoning.ts'

/**
 * Makes an id for an object that the gateway itself creates. Its form shows where to look it up, so that the ids of
 * upstreams need no further query.
 *
 * @param prefix of the kind, for example `resp_`
 */
export const newGatewayId = (prefix: string): string => `${prefix}${newGatewayIdPart()}`

/** The part of such an id after the prefix. */
export const newGatewayIdPart = (): string => `${mark}${crypto.randomUUID().replaceAll('-', '')}`

/** Whether an id has the form of those that the gateway makes. It proves nothing: anybody can write such an id. */
export const isGatewayId = (id: string | undefined): id is string => id !== undefined && form.test(id)

/**
 * Whether a request may contain such an id, or reasoning that a gateway has encrypted: false if it certainly contains
 * neither.
 */
export const mayHoldGatewayItem = (request: Json): boolean =>
  request.byteLength > maxSearchLength || gatewayItem.test(request.raw)

const mark = 'gw_'
/** `String.includes` takes 25 times as long in a text with many underscores (Bun 1.4.5). */
const gatewayItem = new RegExp(`_${mark}|${sealedPrefix.replaceAll('.', '[.]')}`)
const form = new RegExp(`^[a-z]{1,16}_${mark}[0-9a-f]{32}$`)

/** In bytes. For a longer request, decoding the text for one search costs more than it saves. */
const maxSearchLength = 2 ** 20
