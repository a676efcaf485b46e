import fc from 'fast-check'
import { hostileText } from '../hostile-text.ts'
import type { Model, ModelObject } from './model.ts'

/** How a step chooses an id when it runs. */
export interface Pick {
  readonly of: 'own' | 'other' | 'never' | 'odd' | 'lookalike'
  readonly at: number
  readonly text: string
}

/** Created once, because it is slow. */
const picks: fc.Arbitrary<Pick> = fc.record({
  of: fc.oneof(
    { arbitrary: fc.constant('own' as const), weight: 6 },
    { arbitrary: fc.constant('other' as const), weight: 4 },
    { arbitrary: fc.constantFrom('never' as const, 'odd' as const, 'lookalike' as const), weight: 1 },
  ),
  at: fc.nat(30),
  text: hostileText(),
})

export const pick = (): fc.Arbitrary<Pick> => picks

const prefixes: Readonly<Record<string, string>> = {
  ...{ response: 'resp_', conversation: 'conv_', item: 'msg_', file: 'file-', prompt: 'pmpt_' },
  ...{ container: 'cntr_', vector_store: 'vs_', audio: 'audio_' },
}

/** An id that the upstream never returned. */
export const unusedId = (kind: ModelObject['kind'], at: number): string =>
  `${prefixes[kind]}${String(at).padStart(24, '0123456789abcdef')}`

export const idOf = (model: Model, user: number, kind: ModelObject['kind'], { of, at, text }: Pick): string => {
  const [own, others] = [model.ownOf(user, kind), model.othersOf(user, kind)]
  const other = others[at % others.length]?.id ?? unusedId(kind, at)
  if (of === 'own') return own[at % own.length]?.id ?? unusedId(kind, at)
  if (of === 'other') return other
  if (of === 'never') return unusedId(kind, at)
  if (of === 'lookalike') return lookalike(other, at)
  return /^\.{1,2}$/.test(text) ? 'resp_.' : text
}

/** A variation of a foreign id that a tolerant server could accept. */
const lookalike = (id: string, at: number): string => {
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
