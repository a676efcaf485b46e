import { afterEach, expect, test } from 'bun:test'
import { JsonBody } from '../../plugins/shared/http/body/body.ts'
import { toJson } from '../../plugins/shared/json/json.ts'
import { declareOwned } from '../../plugins/shared/owned-id.ts'
import {
  ark,
  createUpstream,
  type MediaKind,
  rest,
  type Upstream,
  UpstreamRejectedError,
} from '../../plugins/upstream-proxy/index.ts'
import { CALLBACK, open, start, stopAll } from './face-client.ts'

afterEach(stopAll)

const own = (id: string) => declareOwned('verification', { id })
const upstreamOf = (kind: MediaKind) => createUpstream({ kind })

const create = (upstream: Upstream, callbackUrl?: string) =>
  upstream.send({ action: 'CreateVisualValidateSession', body: new JsonBody(toJson({ a: 1 })), callbackUrl })
const query = (upstream: Upstream, id: string) =>
  upstream.send({ action: 'GetVisualValidateResult', verification: own(id) })

test('the gateway’s ark driver creates a session and reads its result', async () => {
  const emulator = await start({ project: 'mine' })
  const upstream = upstreamOf(ark(emulator.ark))
  const created = (await create(upstream, CALLBACK)).json?.get('Result')
  const token = created?.get('BytedToken')?.string() ?? ''
  expect(created?.get('H5Link')?.string()).toBe(emulator.origin + emulator.face.sessions()[0]?.h5)
  expect((await query(upstream, token)).json?.get('Result')?.get('GroupId')?.string()).toBe('')
  emulator.face.finish(token, 'succeed')
  const group = (await query(upstream, token)).json?.get('Result')?.get('GroupId')?.string() ?? ''
  expect(emulator.library.group(group)).toMatchObject({ type: 'LivenessFace', project: 'mine' })
  emulator.library.advance(1_800_000)
  const gone = await query(upstream, token).catch((error: unknown) => error)
  expect(gone).toBeInstanceOf(UpstreamRejectedError)
  expect(gone).toMatchObject({ status: 404 })
})

test('the gateway’s rest driver creates a task and reads that it is verified', async () => {
  const emulator = await start()
  const upstream = upstreamOf(rest(emulator.rest))
  const created = (await create(upstream)).json
  const id = created?.get('verification_id')?.string() ?? ''
  expect(created?.get('expires_at')?.raw).toMatch(/^\d{10}$/)
  const [session] = emulator.face.sessions()
  expect(created?.get('h5_url')?.string()).toBe(emulator.origin + session?.h5)
  expect((await query(upstream, id)).json?.get('status')?.string()).toBe('waiting_user')
  await open(emulator.face.finish(session?.bytedToken ?? '', 'succeed') ?? '')
  const verified = (await query(upstream, id)).json
  expect(verified?.get('status')?.string()).toBe('verified')
  expect(verified?.get('group_id')?.string()).toBe(emulator.library.groups()[0]?.id)
  expect(await query(upstream, 'another').catch((error: unknown) => error)).toMatchObject({ status: 404 })
})
