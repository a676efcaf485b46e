import type { Role, Scope } from '../../plugins/shared/identity/scopes.ts'

/** A user, as the model knows it. */
export interface ModelUser {
  readonly id: string
  name: string
  role: Role
  disabled: boolean
  service: boolean
  /** JSON text. */
  limits: string | undefined
  team: string | undefined
}

/** A token, as the model knows it. */
export interface ModelToken {
  readonly id: string
  readonly user: string
  secret: string
  scopes: readonly Scope[]
  models: readonly string[] | undefined
  limits: string | undefined
  revoked: boolean
}

/** What the caller of a request may do. */
export type Power = 'unknown' | 'nobody' | 'provision' | 'admin'

/** The users, tokens and teams, and the rules of who may see and change them: section by section as the page of the plugin says. */
export class AdminModel {
  readonly users = new Map<string, ModelUser>()
  readonly tokens = new Map<string, ModelToken>()
  readonly teams = new Map<string, { name: string }>()

  powerOf(token: ModelToken): Power {
    const user = this.users.get(token.user)
    if (token.revoked || !user || user.disabled) return 'unknown'
    if (user.role !== 'admin') return 'nobody'
    if (token.scopes.includes('admin')) return 'admin'
    return token.scopes.includes('provision') ? 'provision' : 'nobody'
  }

  /** The status of every request of a caller without the power for it. Undefined: the caller has it. */
  rejectionOf(power: Power, area: 'people' | 'operation'): 401 | 403 | undefined {
    if (power === 'unknown') return 401
    return power === 'admin' || (power === 'provision' && area === 'people') ? undefined : 403
  }

  isLastAdmin(user: ModelUser): boolean {
    const admins = [...this.users.values()].filter(({ role, disabled }) => role === 'admin' && !disabled)
    return admins.length === 1 && admins[0] === user
  }

  /** Whether another user has the name, without regard to case. */
  isNameTaken(name: string, except?: ModelUser): boolean {
    return [...this.users.values()].some((user) => user !== except && user.name.toLowerCase() === name.toLowerCase())
  }

  /** Whether a provisioning token may not change a token. */
  isOutOfReach(power: Power, token: ModelToken): boolean {
    return power === 'provision' && (this.users.get(token.user)?.role === 'admin' || hasAdminScope(token.scopes))
  }
}

export const hasAdminScope = (scopes: readonly Scope[]): boolean =>
  scopes.includes('admin') || scopes.includes('provision')
