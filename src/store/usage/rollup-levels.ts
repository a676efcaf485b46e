import type { UsageDimension } from '../../../plugins/admin/usage-sums.ts'

/** A column of the key of a roll-up, besides its period and kind. */
export type RollupColumn = Exclude<UsageDimension, 'day'>

/** Each level has the sums by some columns. */
export const rollupLevels = [
  ...(['all', 'model', 'team', 'model-team'] as const),
  ...(['user', 'user-model', 'token', 'token-model'] as const),
] as const

/** A level of roll-ups. */
export type RollupLevel = (typeof rollupLevels)[number]

/**
 * The columns by which a level tells usage apart, in the order of the key. A user has few teams over time, so that the
 * levels of users and tokens have theirs, too.
 */
export const columnsOf: Readonly<Record<RollupLevel, readonly RollupColumn[]>> = {
  all: [],
  model: ['model'],
  team: ['team'],
  'model-team': ['model', 'team'],
  user: ['user', 'team'],
  'user-model': ['user', 'model', 'team'],
  token: ['user', 'token', 'team'],
  'token-model': ['user', 'token', 'model', 'team'],
}

/** All columns, in the order of the key. */
export const rollupColumns = columnsOf['token-model']

/** Whether a level has sums by day: users and tokens have about as many as there are rows. */
export const isDaily = (level: RollupLevel): boolean => !columnsOf[level].includes('user')

/** The level that tells usage apart by these properties, with the fewest rows. */
export const levelOf = (dimensions: ReadonlySet<UsageDimension>): RollupLevel => {
  const byModel = dimensions.has('model')
  if (dimensions.has('token')) return byModel ? 'token-model' : 'token'
  if (dimensions.has('user')) return byModel ? 'user-model' : 'user'
  if (dimensions.has('team')) return byModel ? 'model-team' : 'team'
  return byModel ? 'model' : 'all'
}
