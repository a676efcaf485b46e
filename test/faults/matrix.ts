import { expect } from 'bun:test'
import { inLanes } from '../../plugins/shared/background/in-lanes.ts'
import { internalDetails } from '../support/gateway.ts'
import { isThere } from './effects/index.ts'
import type { ProxyFault } from './fault-proxy.ts'
import { type Answer, answerWhileDown } from './outages.ts'
import { requests } from './requests/index.ts'
import { type Dependency, dependencies, type FaultReply, type FaultRequest, type FaultWorld } from './world.ts'

export type Prepared = ReadonlyMap<string, FaultRequest>

/** On a busy machine, all requests at once would take longer than the deadlines. */
const lanes = 4

/** Makes what the requests of these routes need. */
export const prepare = async (world: FaultWorld, routes: readonly string[]): Promise<Prepared> => {
  const prepared = new Map<string, FaultRequest>()
  await inLanes(routes, lanes, async (route) => {
    const make = requests[route]
    if (!make) throw new Error(`there is no request of ${route}`)
    prepared.set(route, await again(() => make(world)))
  })
  return prepared
}

/** A busy machine may exceed a deadline although nothing fails. */
const maxTries = 4

const again = async <Result>(make: () => Result | Promise<Result>): Promise<Result> => {
  for (let tries = 1; ; tries++) {
    try {
      return await make()
    } catch (error) {
      if (tries === maxTries) throw error
    }
  }
}

const methodOf = (route: string): string => route.slice(0, route.indexOf(' '))

/** The reply to each request. Undefined: none within the client's patience. */
const sendAll = async (world: FaultWorld, prepared: Prepared, count = prepared.size) => {
  const replies = new Map<string, FaultReply | undefined>()
  await inLanes([...prepared], count, async ([route, request]) => {
    replies.set(route, await world.send(methodOf(route), request).catch(() => undefined))
  })
  return replies
}

/** The statuses of requests that do not succeed although nothing fails, because of what they lack. */
const usualStatuses: Readonly<Record<string, number>> = {
  // For WebSocket only.
  'GET /v1/responses': 426,
  // Another request verifies the trail.
  'GET /api/admin/audit/verification': 409,
  'POST /api/admin/audit/verification': 409,
}

const isUsual = (route: string, { status, isCut }: FaultReply): boolean =>
  !isCut && (status < 400 || status === usualStatuses[route])

/** What has begun to send a file, of which nothing is in memory. */
const downloads: readonly string[] = ['GET /api/files/{}/{}', 'GET /v1/videos/{}/content']

const shown = (reply: FaultReply | undefined) => (reply ? `${reply.status} ${reply.text.slice(0, 200)}` : 'no answer')

/** What is wrong with a reply, whatever fails. */
const defectOf = (route: string, reply: FaultReply | undefined): string | undefined => {
  if (!reply) return 'no answer within its deadline'
  if (reply.undocumented.length > 0) return reply.undocumented.join()
  if (reply.isCut) return downloads.includes(route) ? undefined : 'breaks off'
  if (isUsual(route, reply)) return undefined
  // Of what nobody has foreseen.
  if (reply.text.includes('internal error')) return 'says nothing'
  return internalDetails.test(reply.text.replaceAll(/127\.0\.0\.1:\d+"?:/g, '')) ? 'shows details' : undefined
}

/** What is wrong with a reply while something is down. */
const problemOf = (route: string, reply: FaultReply | undefined, answer: Answer): string | undefined => {
  const defect = defectOf(route, reply)
  if (defect !== undefined || !reply) return defect
  if (answer.kind === 'as usual') return isUsual(route, reply) ? undefined : 'is not as usual'
  if (reply.isCut || !answer.statuses.includes(reply.status)) return `is not ${answer.statuses.join(' or ')}`
  if (reply.status !== answer.statuses[0]) return undefined
  return answer.message === undefined || reply.text.includes(answer.message)
    ? undefined
    : `does not say ${answer.message}`
}

/** While a fault begins, or lets something pass, a route may also succeed, or fail with other words. */
const problemWhileUnsure = (route: string, reply: FaultReply | undefined): string | undefined =>
  defectOf(route, reply) ??
  (reply && (reply.isCut || isUsual(route, reply) || [500, 502, 503].includes(reply.status)) ? undefined : 'is neither')

export type Violation = string

/** Faults while which nothing works, and every answer is that of the page. */
const isTotal = (fault: ProxyFault): boolean =>
  fault.kind === 'half-open'
    ? fault.afterBytes === undefined
    : !['reset', 'close', 'cut', 'slow', 'trickle'].includes(fault.kind)

/** Faults while which a request may wait until its deadline. With others, all requests at once would exceed it. */
const isSilent = (fault: ProxyFault): boolean =>
  isTotal(fault) || fault.kind === 'half-open' || (fault.kind === 'cut' && fault.at === 'answer')

/** Whether the server knows that the database is down, and no longer uses what it has read a second ago. */
const knowsOutage = async (world: FaultWorld): Promise<boolean> => {
  const { status, text } = await world.send('GET', { as: 'token', path: '/v1/models' })
  return status === 500 && text.includes('token could not be checked')
}

const readiness = async (world: FaultWorld) => {
  const { status, text } = await world.send('GET', { as: 'nobody', path: '/readyz' })
  return { status, database: JSON.parse(text).database as string }
}

/** Lets a dependency fail, sends the requests, and ends the fault. Resolves with what was not as the page says. */
export const runFault = async (
  world: FaultWorld,
  {
    dependency,
    fault,
    prepared,
  }: { readonly dependency: Dependency; readonly fault: ProxyFault; readonly prepared: Prepared },
): Promise<readonly Violation[]> => {
  const violations: Violation[] = []
  const label = `${dependency} ${JSON.stringify(fault)}`
  const proxy = world.proxies[dependency]
  const isDeleted = new Set<string>()
  const acknowledged: (readonly [string, FaultRequest, FaultReply])[] = []
  const check = async (how: typeof problemOf, count?: number) => {
    const left = new Map([...prepared].filter(([route]) => !isDeleted.has(route)))
    const replies = await sendAll(world, left, count)
    for (const [route, request] of left) {
      const reply = replies.get(route)
      const problem = how(route, reply, answerWhileDown(dependency, route))
      if (problem) violations.push(`${label}: ${route} ${problem}: ${shown(reply)}`)
      if (!reply || !isUsual(route, reply)) continue
      acknowledged.push([route, request, reply])
      if (route.startsWith('DELETE')) isDeleted.add(route)
    }
  }

  await proxy.fail(fault)
  if (dependency === 'database') {
    await check(problemWhileUnsure, isSilent(fault) ? undefined : lanes)
    if (isTotal(fault)) while (!(await knowsOutage(world))) await Bun.sleep(50)
  }
  if (isTotal(fault)) {
    // The database works for those that need no upstream, but not for all at once.
    await check(problemOf, dependency === 'database' || prepared.size < 40 ? undefined : lanes)
    const ready = await readiness(world)
    const expected = dependency === 'database' ? { status: 503, database: 'down' } : { status: 200, database: 'ok' }
    if (!Bun.deepEquals(ready, expected)) violations.push(`${label}: /readyz is ${JSON.stringify(ready)}`)
  } else if (dependency !== 'database') await check(problemWhileUnsure, lanes)
  await proxy.recover()
  const concerned = routesWith(dependency, [...prepared.keys()])
  violations.push(...(await notBack(world, concerned)).map((problem) => `${label}: ${problem}`))
  await inLanes(acknowledged, lanes, async ([route, request, reply]) => {
    if (!(await isThere(world, route, request, reply)))
      violations.push(`${label}: ${route} was acknowledged, and is lost`)
  })
  endVideos(world)
  return violations
}

/** The server asks for each video that is being made twice a second: after some faults there are hundreds. */
const endVideos = ({ emulator: { video } }: FaultWorld): void => {
  const outcome = { status: 'failed', code: 'OutputVideoSensitiveContentDetected', message: 'it is not shown' } as const
  for (const { id, status } of video.tasks()) if (status === 'queued' || status === 'running') video.finish(id, outcome)
}

const backMs = 5_000
const stepMs = 100

/** What needs one dependency each, in both ways. */
const signsOfLife = [
  'GET /readyz',
  'GET /api/session',
  'POST /api/tokens',
  'GET /api/media/proxy/assets',
  'POST /api/media/proxy/assets',
  'GET /v1/models',
  'POST /v1/responses',
  'GET /api/v3/contents/generations/tasks',
  'POST /api/v3/contents/generations/tasks',
  'GET /api/session/oidc',
]

/** Its code is used up at the provider, also when the gateway could not record the session. */
const usedUpByErrors: readonly string[] = ['GET /api/session/oidc/callback']

/** What one try to use a route has found. Undefined: it works. */
type Problem = string | undefined

/**
 * Makes what a request needs, and sends it: again and again the same, unless it has had its effect without an answer,
 * such as a deletion. What cannot be made has the same cause as a request that fails.
 */
const createTry = (world: FaultWorld, route: string): (() => Promise<Problem>) => {
  let request: FaultRequest | undefined
  return async () => {
    try {
      request ??= await requests[route]?.(world)
    } catch (error) {
      return `${route} cannot be tried: ${String(error).slice(0, 200)}`
    }
    const reply = request && (await world.send(methodOf(route), request).catch(() => undefined))
    if (reply && isUsual(route, reply)) return undefined
    if (reply && (reply.status < 500 || usedUpByErrors.includes(route))) request = undefined
    return `${route} is not back: ${shown(reply)}`
  }
}

/** While a circuit is open, its calls fail at once, although the upstream is back. */
const tryCircuits = async (world: FaultWorld): Promise<Problem> => {
  const { text } = await world.send('GET', { as: 'nobody', path: '/readyz' })
  const { circuits } = JSON.parse(text) as { readonly circuits: { readonly open: number } }
  return circuits.open === 0 ? undefined : `circuits are open: ${JSON.stringify(circuits)}`
}

/**
 * What does not work five seconds after the end of a fault: of the routes that it has concerned, of one route for each
 * other dependency, and of the circuits. So when this has resolved with nothing, the next fault can begin. The clock
 * stands while a request is in progress: a busy machine is no fault.
 */
const notBack = async (world: FaultWorld, concerned: readonly string[]): Promise<readonly string[]> => {
  const routes = [...new Set([...signsOfLife, ...concerned])]
  let waiting = [...routes.map((route) => createTry(world, route)), () => tryCircuits(world)]
  let problems: string[] = []
  for (let passed = 0; passed <= backMs && waiting.length > 0; passed += stepMs) {
    if (passed > 0) await Bun.sleep(stepMs)
    problems = []
    const failed: typeof waiting = []
    await inLanes(waiting, lanes, async (attempt) => {
      const problem = await attempt()
      if (problem === undefined) return
      problems.push(problem)
      failed.push(attempt)
    })
    waiting = failed
  }
  return problems
}

/** That every request succeeds while nothing fails. */
export const expectUsual = async (world: FaultWorld, routes: readonly string[]): Promise<void> => {
  let failed: readonly (readonly [string, FaultReply | undefined])[] = routes.map((route) => [route, undefined])
  for (let tries = 0; tries < maxTries && failed.length > 0; tries++) {
    const prepared = await prepare(
      world,
      failed.map(([route]) => route),
    )
    const replies = await sendAll(world, prepared, lanes)
    failed = [...replies].filter(([route, reply]) => !reply || !isUsual(route, reply))
  }
  expect(failed.map(([route, reply]) => `${route} ${shown(reply)}`)).toEqual([])
}

/** The routes whose answer a dependency changes. */
export const routesWith = (dependency: Dependency, routes: readonly string[]): readonly string[] =>
  routes.filter((route) => answerWhileDown(dependency, route).kind !== 'as usual')

export const upstreams = dependencies.filter((each) => each !== 'database')
