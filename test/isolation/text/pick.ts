import fc from 'fast-check'
import { naughty } from '../naughty.ts'
import type { Model, Thing } from './model.ts'

/** An id as it is picked when its turn comes. */
export interface Pick {
  readonly of: 'own' | 'other' | 'never' | 'odd' | 'near'
  readonly at: number
  readonly text: string
}

/** Made once: it takes a while. */
const picks: fc.Arbitrary<Pick> = fc.record({
  of: fc.oneof(
    { arbitrary: fc.constant('own' as const), weight: 6 },
    { arbitrary: fc.constant('other' as const), weight: 4 },
    { arbitrary: fc.constantFrom('never' as const, 'odd' as const, 'near' as const), weight: 1 },
  ),
  at: fc.nat(30),
  text: naughty(),
})

export const pick = (): fc.Arbitrary<Pick> => picks

const prefixes: Readonly<Record<string, string>> = {
  ...{ response: 'resp_', conversation: 'conv_', item: 'msg_', file: 'file-', prompt: 'pmpt_' },
  ...{ container: 'cntr_', vector_store: 'vs_', audio: 'audio_' },
}

/** An id that no upstream has given to anybody. */
export const neverId = (kind: Thing['kind'], at: number): string =>
  `${prefixes[kind]}${String(at).padStart(24, '0123456789abcdef')}`

export const idOf = (model: Model, user: number, kind: Thing['kind'], { of, at, text }: Pick): string => {
  const [own, others] = [model.ownOf(user, kind), model.othersOf(user, kind)]
  const other = others[at % others.length]?.id ?? neverId(kind, at)
  if (of === 'own') return own[at % own.length]?.id ?? neverId(kind, at)
  if (of === 'other') return other
  if (of === 'never') return neverId(kind, at)
  if (of === 'near') return near(other, at)
  return /^\.{1,2}$/.test(text) ? 'resp_.' : text
}

/** Somebody else's id as a lenient reader may take it for one. */
const near = (id: string, at: number): string => {
  const disguises = [
    id.toUpperCase(),
    ` ${id}`,
    `${id} `,
    `${id}\0`,
    `${id}/`,
    `${id}?`,
    `./${id}`,
    `x/../${id}`,
    encodeURIComponent(id).replace('_', '%5F'),
    id.replace('_', '＿'),
    `${id},${id}`,
    `"${id}"`,
    `\u200b${id}`,
  ]
  return disguises[at % disguises.length] ?? id
}
