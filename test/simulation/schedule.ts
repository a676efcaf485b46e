import { forgetRequestTurns } from '../../plugins/shared/http/turn/request-turn.ts'
import { checkEvents, type ReceivedEvents, receiveEvents } from './checks/events.ts'
import { checkLibrary } from './checks/library.ts'
import { checkLimits } from './checks/limits.ts'
import { checkVideos } from './checks/videos.ts'
import type { Fault } from './faults.ts'
import { KnownLibrary, librarySteps, libraryWeights } from './steps/library.ts'
import { KnownVideos, videoSteps, videoWeights } from './steps/videos.ts'
import { simulated } from './virtual/virtual-process.ts'
import type { Outcomes } from './world/channel.ts'
import { World } from './world/world.ts'

/** What a schedule has shown. */
export interface ScheduleResult {
  readonly seed: number
  /** Of everything that has happened: the same for each run of a seed. */
  readonly hash: string
  readonly violations: readonly string[]
  readonly requests: number
  /** Undefined unless it was asked for. */
  readonly trace: readonly string[] | undefined
}

/** Virtual milliseconds. */
const busyMs = 4_000
const settleMs = 20_000
const clientsPerUser = 2

/** How bad the schedule is: some go well, so that faults that need no failure are not hidden by failures. */
const outcomesOf = (): { readonly database: Outcomes; readonly upstream: Outcomes } => {
  const { random } = simulated
  const [database, upstream] = [random.of([0, 0.02, 0.1]), random.of([0, 0.05, 0.3])]
  const failing = (rate: number) => ({
    ...{ done: 1 - rate, refused: rate / 4, lost: rate / 4, unknown: rate / 4, late: rate / 4 },
  })
  return { database: failing(database), upstream: failing(upstream) }
}

/** Runs the schedule of a seed. */
export const runSchedule = async (
  seed: number,
  options: { readonly fault?: Fault | undefined; readonly keepTrace?: boolean } = {},
): Promise<ScheduleResult> => {
  forgetRequestTurns()
  const world = new World(seed, options)
  const { timeline, random } = simulated
  const known = { library: new KnownLibrary(), videos: new KnownVideos() }
  world.setOutcomes(outcomesOf())
  const end = timeline.now + busyMs
  const used = world.areas.filter((area) => area === 'library' || area === 'videos')
  const listeners = world.users.map((user): ReceivedEvents => ({ user, ids: [] }))
  let requests = 0
  let isOver = false

  const client = async (user: string): Promise<void> => {
    while (timeline.now < end) {
      requests++
      if (random.of(used) === 'library') await librarySteps[random.weighted(libraryWeights)](world, known.library, user)
      else await videoSteps[random.weighted(videoWeights)](world, known.videos, user)
      await timeline.delay(random.chance(0.7) ? random.next() * 50 : random.next() * 1_000)
    }
  }
  const killer = async (): Promise<void> => {
    while (random.chance(0.4)) {
      await timeline.delay(random.next() * busyMs)
      if (timeline.now < end) world.kill()
    }
  }
  try {
    const clients = world.users.flatMap((user) => Array.from({ length: clientsPerUser }, () => client(user)))
    if (world.areas.includes('events'))
      for (const listener of listeners) void receiveEvents(world, listener, () => isOver)
    await world.during(Promise.all([...clients, killer()]))
    world.heal()
    world.trace('everything works again')
    await timeline.run(settleMs)
    if (world.areas.includes('videos')) await world.during(checkVideos(world, known.videos))
    if (world.areas.includes('library')) await world.during(checkLibrary(world, known.library))
    if (world.areas.includes('events')) await world.during(checkEvents(world, listeners))
    if (world.areas.includes('limits')) await world.during(checkLimits(world))
  } catch (error) {
    world.violate(error instanceof Error ? `${error.stack}` : String(error))
  }
  isOver = true
  const { violations, lines } = world
  await world.close()
  return { seed, hash: world.hash(), violations, requests, trace: lines }
}
