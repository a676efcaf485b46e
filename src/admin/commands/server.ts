import type { UpstreamView } from '../../../plugins/admin/views/system.ts'
import type { Command, Commands } from '../command.ts'
import { columns, printJson } from '../terminal.ts'

const upstreams: Command['run'] = async (_words, { json }, on) => {
  for (const upstream of await on.operations.system.upstreams(on.actor)) {
    // A command has called no upstream, so it knows no state.
    const { name, kind, limits, slots, asset_slots } = upstream
    if (json) printJson(on.out, { name, kind, limits, slots, asset_slots })
    else for (const line of linesOf(upstream)) on.out(line)
  }
}

/** A line for the upstream, one for each of its rate limits, and one for each pool of slots. */
const linesOf = ({ name, kind, limits, slots, asset_slots }: UpstreamView): readonly string[] => [
  columns(name, kind),
  ...limits.map(({ action, per_second, calls, waiting }) =>
    columns(name, kind, `limit ${action}`, `calls ${calls} of ${per_second} a second`, `waiting ${waiting}`),
  ),
  ...slots.map(({ pool, slots: most, running, waiting, users }) =>
    columns(
      ...[name, kind, `slots ${pool}`, `running ${running} of ${most ?? 'any'}`, `waiting ${waiting}`],
      ...users.map((user) => `${user.user_name ?? user.user} ${user.running} and ${user.waiting}`),
    ),
  ),
  ...(asset_slots ? [lineOfAssetSlots(name, kind, asset_slots)] : []),
]

const lineOfAssetSlots = (name: string, kind: string, slots: NonNullable<UpstreamView['asset_slots']>): string =>
  columns(
    ...[name, kind, 'slots of assets', `used ${slots.used} of ${slots.slots ?? 'the quota'}`],
    ...[`persons ${slots.persons}`, `pinned ${slots.pinned}`, `waiting ${slots.waiting}`],
    slots.last_evicted_at === null ? 'none evicted' : `last evicted ${slots.last_evicted_at}`,
    ...slots.users.map(({ user, user_name, used, persons }) => `${user_name ?? user} ${used}, persons ${persons}`),
  )

const settings: Command['run'] = async (_words, { json }, on) => {
  for (const [variable, value] of Object.entries(await on.operations.system.settings(on.actor)))
    if (json) printJson(on.out, { variable, value })
    else on.out(columns(variable, typeof value === 'string' ? value : JSON.stringify(value)))
}

/** The commands about the server itself. */
export const serverCommands: Commands = {
  upstreams: { positionals: [0, 0], switches: ['json'], run: upstreams },
  settings: { positionals: [0, 0], switches: ['json'], worksOffline: true, run: settings },
}
