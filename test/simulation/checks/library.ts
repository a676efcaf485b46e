import { sql } from '../../../src/store/database/statement.ts'
import { type KnownLibrary, librarySteps, walkGroups } from '../steps/library.ts'
import { simulated } from '../virtual/virtual-process.ts'
import type { World } from '../world/world.ts'

interface GroupRow {
  readonly group?: string
  readonly user: string
  readonly name: string
  readonly state: string
  readonly renames?: string
}

const readRows = (world: World): Promise<GroupRow[]> =>
  world.database.query<GroupRow>(sql`
    select group_id as "group", user_id as "user", name, state, renames
    from groups
    order by created_at, id`)

/** Checks the asset library when everything works again and nothing is in progress. */
export const checkLibrary = async (world: World, known: KnownLibrary): Promise<void> => {
  const { owners, account } = world.upstream
  const rows = await readRows(world)
  const owned = rows.filter(({ state }) => state === 'owned')
  for (const { group = '', user } of owned)
    if (owners.get(group) !== user) world.violate(`the record of ${group} is ${user}'s, not ${owners.get(group)}'s`)
  for (const { user, name, state } of rows)
    if (state === 'pending') world.violate(`the name ${name} of ${user} is still reserved`)

  const groups = account.library.groups()
  for (const { id, name } of groups) {
    const owner = owners.get(id) ?? ''
    const isAccounted = rows.some(
      (row) => row.user === owner && (row.group === id || (row.state === 'unresolved' && row.name === name)),
    )
    if (!isAccounted) world.violate(`the upstream's ${id} (${name}) of ${owner} belongs to nobody`)
  }
  for (const { id, user, isUncertain, isDeleted } of known.groups) {
    const hasRecord = owned.some((row) => row.group === id)
    if (!isUncertain && !hasRecord) world.violate(`${id} of ${user} is lost`)
    if (isDeleted && hasRecord) world.violate(`${user} has deleted ${id}, which still has a record`)
  }
  for (const { group = '', name } of owned) {
    const described = account.library.group(group)
    // A rename whose outcome was unknown, and whose name the user has given to another group since then.
    const isUnresolved = rows.some((row) => row.renames === group && row.name === described?.name)
    if (described && described.name !== name && !isUnresolved)
      world.violate(`${group} is ${name} in its record, and ${described.name} upstream`)
  }

  await checkLists(world)
  for (const user of world.users) await checkNames(world, known, user)
  // A gateway knows within a second what another one has changed.
  await simulated.timeline.delay(1_000)
  await checkLists(world)
}

/** Each gateway lists for each user what the user has, and nothing twice. */
const checkLists = async (world: World): Promise<void> => {
  const rows = (await readRows(world)).filter(({ state }) => state === 'owned')
  for (const user of world.users) {
    const expected = rows.filter((row) => row.user === user).map(({ group }) => group)
    for (const gateway of world.gateways) {
      const listed = (await walkGroups(world, user, gateway)).map(({ Id }) => Id)
      if (listed.toSorted().join() !== expected.toSorted().join())
        world.violate(`${gateway.name} lists ${listed} for ${user}, who has ${expected}`)
    }
  }
}

/** A user can use each name that no group of the user has. */
const checkNames = async (world: World, known: KnownLibrary, user: string): Promise<void> => {
  const taken = (await readRows(world)).filter((row) => row.user === user && row.state === 'owned')
  for (const name of world.names) {
    const { status, text } = await librarySteps.createGroup(world, known, user, name)
    const expected = taken.some((row) => row.name === name) ? 400 : 200
    if (status === 429 && world.areas.includes('limits')) continue
    if (status !== expected) world.violate(`${user} creates ${name}: ${status} instead of ${expected}, ${text}`)
  }
}
