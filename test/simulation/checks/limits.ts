import type { Limit } from '../../../plugins/usage-limits/index.ts'
import { simulated } from '../virtual/virtual-process.ts'
import type { World } from '../world/world.ts'

const groupsPerUser = 2
const videosPerUser = 4

/** The limits of each user: so low that they are reached. There are more names than groups. */
export const userLimits: readonly Limit[] = [
  { unit: 'groups', amount: groupsPerUser },
  { unit: 'videos', amount: videosPerUser, window: 'month' },
]

/** After this time nothing is reserved for a request that was lost, or by a gateway that was killed. Milliseconds. */
const maxHoldMs = 67_000

interface ShownLimit {
  readonly unit: string
  readonly amount: number
  readonly used: number
  readonly reserved: number
}

/** Checks that no limit was exceeded, and that nothing is still reserved when nothing is in progress. */
export const checkLimits = async (world: World): Promise<void> => {
  const { maxGroups, account, owners } = world.upstream
  for (const [user, count] of maxGroups)
    if (count > groupsPerUser) world.violate(`${user} had ${count} groups at once, and the limit is ${groupsPerUser}`)
  await simulated.timeline.delay(maxHoldMs)
  // A gateway that is used gives back what others have left.
  for (const user of world.users) await readLimits(world, user)
  await simulated.timeline.delay(1_000)
  for (const user of world.users) {
    const [made, groups] = [
      account.video.tasks
        .all()
        .filter(({ status, gone, request }) => status === 'succeeded' && !gone && request.prompt.startsWith(user)),
      account.library.groups().filter(({ id }) => owners.get(id) === user),
    ]
    if (made.length > videosPerUser)
      world.violate(`${user} has made ${made.length} videos, and the limit is ${videosPerUser}`)
    for (const { unit, used, reserved } of await readLimits(world, user)) {
      if (reserved !== 0) world.violate(`${reserved} ${unit} of ${user} are still reserved`)
      const atLeast = unit === 'groups' ? groups.length : made.length
      if (used < atLeast) world.violate(`${used} ${unit} of ${user} are counted, of ${atLeast}`)
    }
  }
}

const readLimits = async (world: World, user: string): Promise<readonly ShownLimit[]> => {
  const { status, json } = await world.ask(user, 'GET', '/api/limits')
  if (status !== 200) world.violate(`the limits are answered with ${status} although everything works`)
  return json.data ?? json.limits
}
