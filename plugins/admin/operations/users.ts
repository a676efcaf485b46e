import { createHash, randomBytes } from 'node:crypto'
import type { AuditAction } from '../../shared/audit.ts'
import { passwordProblem } from '../../shared/login/password-rules.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import {
  checkFields,
  fault,
  type Input,
  limitsReader,
  optional,
  readExternalId,
  readFlag,
  readName,
  readReference,
  readRole,
  readText,
  valueOrNull,
} from '../fields.ts'
import type { OperationTools } from '../operation-tools.ts'
import type { AdminStore, AdminUser, PageOf, PageRequest, UserFilter } from '../store.ts'
import { type AdminActor, conditionsOf, onlyAdmins, readBy } from './actor.ts'

/** A link with which its holder sets the password. */
export interface Invitation {
  /** Random, about 256 bits. Shown once; the store has its hash. */
  readonly secret: string
  readonly expiresAt: number
}

/** Operations on users. They throw Problem. */
export interface UserOperations {
  list(actor: AdminActor, filter: UserFilter, page: PageRequest): Promise<PageOf<AdminUser>>
  get(actor: AdminActor, id: string): Promise<AdminUser>
  /**
   * Fields: `name`, `password`, `role`, `team`, `service`, `external_id`, `limits`, `invite`.
   *
   * @param id default: a new one
   */
  add(
    actor: AdminActor,
    input: Input,
    id?: string,
  ): Promise<{ readonly user: AdminUser; readonly invitation?: Invitation }>
  /**
   * What an earlier `add` has made under this id, which may have ended before its event was recorded: so it is recorded
   * again. Undefined: nothing. The secret of an invitation is not known any more.
   */
  added(
    actor: AdminActor,
    input: Input,
    id: string,
  ): Promise<{ readonly user: AdminUser; readonly invitation?: Pick<Invitation, 'expiresAt'> } | undefined>
  /** Fields: `name`, `role`, `team`, `disabled`, `password`, `external_id`, `limits`. */
  change(actor: AdminActor, id: string, input: Input): Promise<AdminUser>
  invite(actor: AdminActor, id: string): Promise<Invitation>
  endSessions(actor: AdminActor, id: string): Promise<void>
}

const invitationMs = 72 * 3_600_000
const newFields = ['name', 'password', 'role', 'team', 'service', 'external_id', 'limits', 'invite']
const changedFields = ['name', 'role', 'team', 'disabled', 'password', 'external_id', 'limits']

/** The message when the store fails. */
const unavailable = 'users could not be read or changed'

export const createUserOperations = (
  store: AdminStore,
  { clock, hashPassword, parseLimits }: OperationTools,
): UserOperations => {
  const readLimits = limitsReader(parseLimits)

  const hash = (password: string, name: string): Promise<string> => {
    const problem = passwordProblem(password, name)
    if (problem !== undefined) throw fault('password', problem)
    return hashPassword(password)
  }

  const find = async (id: string): Promise<AdminUser> => {
    const user = await storeCall(store.adminUser(id), unavailable)
    if (!user) throw userNotFound()
    return user
  }

  /** Before the response: no caller may get to know a user or a link that is not in the audit trail. */
  const recordAdded = (actor: AdminActor, input: Input, id: string): Promise<void> => {
    const fields = newFields.filter((field) => input[field] !== undefined && input[field] !== null)
    return actor.record({ action: 'user.create', target: { kind: 'user', id }, fields }, id)
  }

  return {
    list: async (actor, filter, page) =>
      readBy(actor, 'users', storeCall(store.listAdminUsers(filter, page), unavailable)),

    get: (actor, id) => readBy(actor, 'user', find(id), id),

    async add(actor, input, id) {
      checkFields(input, newFields)
      const name = readName(input.name, 'name')
      const password = valueOrNull(input, 'password', readText) ?? undefined
      const role = valueOrNull(input, 'role', readRole) ?? undefined
      const team = valueOrNull(input, 'team', readReference) ?? undefined
      const service = valueOrNull(input, 'service', readFlag) ?? false
      const externalId = valueOrNull(input, 'external_id', readExternalId) ?? undefined
      const limits = valueOrNull(input, 'limits', readLimits) ?? undefined
      const invite = valueOrNull(input, 'invite', readFlag) ?? false
      if (role === 'admin' && actor.kind === 'provision') throw onlyAdmins()
      if (service && (password !== undefined || invite)) throw serviceUser()
      const createdAt = clock.now()
      const invitation = invite ? createInvitation(createdAt) : undefined
      const added = await storeCall(
        store.addAdminUser({
          ...{ id, name, role, team, service, externalId, limits, createdAt },
          password: password === undefined ? undefined : await hash(password, name),
          invitation: invitation?.stored,
        }),
        unavailable,
      )
      if (typeof added === 'string') throw failures[added]()
      await recordAdded(actor, input, added.id)
      return { user: added, ...(invitation && { invitation: invitation.given }) }
    },

    async added(actor, input, id) {
      const user = await storeCall(store.adminUser(id), unavailable)
      if (!user) return undefined
      await recordAdded(actor, input, id)
      const expiresAt = user.createdAt + invitationMs
      return { user, ...(valueOrNull(input, 'invite', readFlag) && { invitation: { expiresAt } }) }
    },

    async change(actor, id, input) {
      checkFields(input, changedFields)
      const name = optional(input, 'name', readName)
      const role = optional(input, 'role', readRole)
      const password = optional(input, 'password', readText)
      const change = {
        ...{ name, role },
        team: valueOrNull(input, 'team', readReference),
        disabled: optional(input, 'disabled', readFlag),
        externalId: valueOrNull(input, 'external_id', readExternalId),
        limits: valueOrNull(input, 'limits', readLimits),
      }
      const before = await find(id)
      if (actor.kind === 'provision' && (before.role !== 'user' || role === 'admin')) throw onlyAdmins()
      if (password !== undefined && before.service) throw serviceUser()
      const outcome = await storeCall(
        store.changeUser(
          id,
          { ...change, password: password === undefined ? undefined : await hash(password, name ?? before.name) },
          { ...conditionsOf(actor), now: clock.now(), keepLastAdmin: actor.kind !== 'operator' },
        ),
        unavailable,
      )
      if (outcome !== 'changed') throw failures[outcome]()
      for (const [action, fields] of actionsOf(input))
        await actor.record({ action, target: { kind: 'user', id }, fields }, id)
      return find(id)
    },

    async invite(actor, id) {
      const { given, stored } = createInvitation(clock.now())
      const outcome = await storeCall(store.addInvitation(id, stored, conditionsOf(actor)), unavailable)
      if (outcome !== 'added') throw failures[outcome]()
      await actor.record({ action: 'user.invite', target: { kind: 'user', id } }, id)
      return given
    },

    async endSessions(actor, id) {
      const { role } = await find(id)
      if (actor.kind === 'provision' && role !== 'user') throw onlyAdmins()
      await storeCall(store.endSessions(id), unavailable)
      await actor.record({ action: 'user.logout', target: { kind: 'user', id } }, id)
    },
  }
}

/** Problem 404. */
export const userNotFound = (): Problem => new Problem(404, 'user not found')

/** Problem 409. */
const serviceUser = (): Problem =>
  new Problem(409, 'a service user has tokens, and neither a password nor an invitation')

/** Why a user was not added or changed, or not invited. */
export const failures = {
  unknown: userNotFound,
  service: serviceUser,
  disabled: () => new Problem(409, 'the user is disabled'),
  'name-taken': () => new Problem(409, 'there is a user of that name already'),
  'external-id-taken': () => new Problem(409, 'there is a user with that external_id already'),
  'unknown-team': () => fault('team', 'there is no such team'),
  'last-admin': () => new Problem(409, 'the last enabled admin can be neither disabled nor demoted'),
  'other-role': onlyAdmins,
}

/** Each action of a change, and its fields. Those of the first three actions are searched for most. */
const actionsOf = ({ disabled, ...others }: Input): readonly (readonly [AuditAction, readonly string[]])[] => {
  const fields = changedFields.filter((field) => others[field] !== undefined && field !== 'password')
  return [
    ...(disabled === undefined ? [] : [[disabled ? 'user.disable' : 'user.enable', ['disabled']] as const]),
    ...(others.password === undefined ? [] : [['user.password', ['password']] as const]),
    ...(fields.length === 0 ? [] : [['user.update', fields] as const]),
  ]
}

const createInvitation = (createdAt: number) => {
  const secret = randomBytes(32).toString('base64url')
  const expiresAt = createdAt + invitationMs
  return {
    given: { secret, expiresAt },
    stored: { hash: createHash('sha256').update(secret).digest('hex'), createdAt, expiresAt },
  }
}
