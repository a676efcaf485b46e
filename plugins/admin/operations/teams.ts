import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { checkFields, type Input, limitsReader, optional, readName, valueOrNull } from '../fields.ts'
import type { OperationTools } from '../operation-tools.ts'
import type { AdminStore, PageOf, PageRequest, Team } from '../store.ts'
import { type AdminActor, onlyAdmins, readBy } from './actor.ts'

/** Operations on teams. They throw Problem. */
export interface TeamOperations {
  list(actor: AdminActor, page: PageRequest): Promise<PageOf<Team>>
  /**
   * Fields: `name`, `limits`.
   *
   * @param id default: a new one
   */
  add(actor: AdminActor, input: Input, id?: string): Promise<Team>
  /** As `UserOperations.added`. */
  added(actor: AdminActor, input: Input, id: string): Promise<Team | undefined>
  /** Fields: `name`, `limits`. */
  change(actor: AdminActor, id: string, input: Input): Promise<Team>
  remove(actor: AdminActor, id: string): Promise<void>
}

const fields = ['name', 'limits']
const given = (input: Input) => fields.filter((field) => input[field] !== undefined)

const recordAdded = (actor: AdminActor, input: Input, id: string): Promise<void> =>
  actor.record({ action: 'team.create', target: { kind: 'team', id }, fields: given(input) })

/** The message when the store fails. */
const unavailable = 'teams could not be read or changed'

export const createTeamOperations = (store: AdminStore, { clock, parseLimits }: OperationTools): TeamOperations => {
  const readLimits = limitsReader(parseLimits)

  /** Whether a change of the limits of a team would change those of an admin. */
  const hasAdmin = async (team: string): Promise<boolean> => {
    const { items } = await storeCall(store.listAdminUsers({ team, role: 'admin' }, { limit: 1 }), unavailable)
    return items.length > 0
  }

  return {
    list: async (actor, page) => readBy(actor, 'teams', storeCall(store.listTeams(page), unavailable)),

    async add(actor, input, id) {
      checkFields(input, fields)
      const name = readName(input.name, 'name')
      const limits = valueOrNull(input, 'limits', readLimits) ?? undefined
      const team = await storeCall(store.addTeam({ id, name, limits, createdAt: clock.now() }), unavailable)
      if (typeof team === 'string') throw nameTaken()
      await recordAdded(actor, input, team.id)
      return team
    },

    async added(actor, input, id) {
      const team = await storeCall(store.team(id), unavailable)
      if (team) await recordAdded(actor, input, id)
      return team
    },

    async change(actor, id, input) {
      checkFields(input, fields)
      const change = { name: optional(input, 'name', readName), limits: valueOrNull(input, 'limits', readLimits) }
      if (actor.kind === 'provision' && (await hasAdmin(id))) throw onlyAdmins()
      const outcome = await storeCall(store.changeTeam(id, change), unavailable)
      if (outcome === 'unknown') throw teamNotFound()
      if (outcome === 'name-taken') throw nameTaken()
      await actor.record({ action: 'team.update', target: { kind: 'team', id }, fields: given(input) })
      const team = await storeCall(store.team(id), unavailable)
      if (!team) throw teamNotFound()
      return team
    },

    async remove(actor, id) {
      const outcome = await storeCall(store.deleteTeam(id), unavailable)
      if (outcome === 'unknown') throw teamNotFound()
      if (outcome === 'not-empty') throw new Problem(409, 'the team has members: move them first')
      await actor.record({ action: 'team.delete', target: { kind: 'team', id } })
    },
  }
}

const teamNotFound = () => new Problem(404, 'team not found')
const nameTaken = () => new Problem(409, 'there is a team of that name already')
