import type { FaultReply, FaultRequest, FaultWorld } from '../world.ts'

// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
type Json = any

/** A request, and its reply, which has acknowledged it. */
export interface Acknowledged {
  readonly request: FaultRequest
  readonly reply: FaultReply
  /** The reply, if it is JSON. */
  readonly json: Json
}

/** Whether what was acknowledged is there. It reads the database itself, or the server on it. */
export type Effect = (world: FaultWorld, acknowledged: Acknowledged) => Promise<boolean>

export type Effects = Readonly<Record<string, Effect>>

/** That a path can be read. */
export const reads = async (world: FaultWorld, as: FaultRequest['as'], path: string): Promise<boolean> =>
  (await world.send('GET', { as, path })).status < 400

/** That what the path of the request names is gone. */
export const gone: Effect = async (world, { request: { as, path } }) => !(await reads(world, as, path))

/** That what the response names can be read. */
export const withId =
  (base: string, idOf: (json: Json) => string): Effect =>
  (world, { request, json }) =>
    reads(world, request.as, `${base}/${idOf(json)}`)

/** That a list has what the response names. */
export const lists =
  (path: string, idOf: (json: Json) => string): Effect =>
  async (world, { request: { as, headers }, json }) =>
    (await world.send('GET', { as, path, headers })).text.includes(idOf(json))

/** That a list no longer has what the path of the request names last. */
export const listsNot =
  (path: string): Effect =>
  async (world, { request }) =>
    !(
      await world.send('GET', { as: request.as, path, ...(request.headers && { headers: request.headers }) })
    ).text.includes(lastOf(request))

/** The last part of the path of a request, or that before an action. */
export const lastOf = ({ path }: FaultRequest, action = ''): string =>
  path
    .slice(0, path.length - action.length)
    .split('/')
    .at(-1) ?? ''

/** What the request was about. Throws if it does not say so. */
export const aboutOf = ({ about, path }: FaultRequest): string => {
  if (about === undefined) throw new Error(`the request of ${path} does not say what it is about`)
  return about
}

/** That a session works, by its cookie. */
export const hasSession = async (world: FaultWorld, cookie: string | undefined): Promise<boolean> =>
  cookie !== undefined &&
  (await world.send('GET', { as: 'nobody', path: '/api/session', headers: { cookie } })).status === 200
