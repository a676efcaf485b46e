import { expect } from 'bun:test'
import { ark, rest } from '../../plugins/upstream-proxy/index.ts'
import type { Call, Emulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { internalDetails, type Reply, startGateway, type TestGatewayOptions, type User } from '../support/gateway.ts'
import { repetitions } from '../support/repetitions.ts'

export { until } from '../support/until.ts'

/** A gateway with two users. Every error response is checked for internal details. */
export interface Fixture extends AsyncDisposable {
  readonly url: string
  readonly emulator: Emulator
  readonly store: Store
  readonly ann: User
  readonly bob: User
  addUser(name: string): Promise<User>
  /** Upstream calls since the last call of this function. */
  calls(): readonly Call[]
}

export const openFixture = async (options: TestGatewayOptions = {}): Promise<Fixture> => {
  const gateway = await startGateway(options)
  const { emulator, store, url } = gateway
  const addUser = async (name: string) => watched(await gateway.addUser(name))
  return {
    ...{ url, emulator, store, addUser, ann: await addUser('ann'), bob: await addUser('bob') },
    calls() {
      const calls = [...emulator.calls]
      emulator.clearCalls()
      return calls
    },
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

const watched = (user: User): User => ({
  ...user,
  async ask(...asked) {
    const reply = await user.ask(...asked)
    expectNoInternalDetails(reply)
    return reply
  },
})

export const expectNoInternalDetails = ({ status, text }: Pick<Reply, 'status' | 'text'>): void => {
  if (status >= 400) expect(text).not.toMatch(internalDetails)
}

export const kinds = {
  rest: ({ rest: settings }: Emulator) => rest(settings),
  ark: ({ ark: settings }: Emulator) => ark(settings),
}

export const eachKind = Object.entries(kinds).map(([kind, kindOf]) => ({ kind, kindOf }))

/** The same for a suite that is not about the requests to the upstream: see `repetitions`. */
export const repeatedKinds = repetitions({ kind: 'rest', kindOf: kinds.rest }, { kind: 'ark', kindOf: kinds.ark })

/** Status and body of an error of the gateway. */
export const errorReply = (status: number, message: string) => ({
  status,
  text: JSON.stringify({ success: false, error: { message, type: 'media_proxy_error' } }),
})

export const statusAndText = ({ status, text }: Reply) => ({ status, text })

export const messageOf = (reply: Reply): string => {
  expect(Object.keys(reply.json)).toEqual(['success', 'error'])
  expect(reply.json).toMatchObject({ success: false, error: { type: 'media_proxy_error' } })
  expect(reply.headers.get('content-type')).toBe('application/json')
  return reply.json.error.message
}

export const newGroup = async (user: User, name: string): Promise<string> => {
  const reply = await user.ask('POST', '/assets/groups', { Name: name })
  expect(reply.status).toBe(200)
  return reply.json.Result.Id
}

export const picture = { URL: 'https://files.example/a.png', AssetType: 'Image' } as const

export const newAsset = async (user: User, group: string, more: object = {}): Promise<string> => {
  const reply = await user.ask('POST', '/assets', { GroupId: group, ...picture, ...more })
  expect(reply.status).toBe(200)
  return reply.json.Result.Id
}

/** Adds a LivenessFace group upstream and adopts it for the user. */
export const adoptFace = async (
  { emulator, store }: Pick<Fixture, 'emulator' | 'store'>,
  user: User,
  name: string,
): Promise<string> => {
  const { id } = emulator.library.addGroup({ name, type: 'LivenessFace' })
  const wanted = { id, user: user.id, type: 'LivenessFace', name, createdAt: Date.now() }
  expect(await store.adoptGroup(wanted)).toBeUndefined()
  return id
}

export const ids = (reply: Reply): string[] => {
  expect(reply.status).toBe(200)
  return reply.json.Result.Items.map((item: { Id: string }) => item.Id)
}
