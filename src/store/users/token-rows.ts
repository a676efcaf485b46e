import { isScope, type Scope } from '../../../plugins/shared/identity/scopes.ts'

/** The columns of a token that hold a list. */
export interface TokenListColumns {
  /** Separated by spaces. */
  readonly scopes: string
  /** A JSON list. Undefined: all models. */
  readonly models?: string
}

export const scopesColumn = (scopes: readonly Scope[]): string => scopes.join(' ')

export const modelsColumn = (models: readonly string[] | null | undefined): string | null | undefined =>
  models && JSON.stringify(models)

/** One list for all tokens of the same scopes: many tokens are cached. */
const scopeLists = new Map<string, readonly Scope[]>()

/** Throws TypeError for a word that is no scope: such a token must not work at all. */
export const scopesOf = (column: string): readonly Scope[] => {
  const known = scopeLists.get(column)
  if (known) return known
  const list = column.split(' ').filter((word) => word !== '')
  if (!list.every(isScope)) throw new TypeError('the scopes of a token are unknown to this program')
  scopeLists.set(column, list)
  return list
}

export const modelsOf = (column: string | undefined): readonly string[] | undefined =>
  column === undefined ? undefined : (JSON.parse(column) as readonly string[])
