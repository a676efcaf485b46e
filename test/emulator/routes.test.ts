import { afterAll, beforeAll, expect, test } from 'bun:test'
import { request } from 'node:http'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { answerOf, ark, rest } from './client.ts'

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator()
})
afterAll(() => emulator.stop())

test('unknown paths, methods, actions and versions get an error in Ark’s envelope', async () => {
  expect(await rest(emulator, 'GET', '/assets/groups/a/b')).toMatchObject({ status: 404, code: 'InvalidPath' })
  expect(await rest(emulator, 'GET', '/other')).toMatchObject({ status: 404, code: 'InvalidPath' })
  const wrong = await rest(emulator, 'DELETE', '/assets')
  expect(wrong).toMatchObject({ status: 405, code: 'MethodNotAllowed' })
  expect(wrong.headers.get('allow')).toBe('GET, POST')
  expect(await ark(emulator, 'DropEverything', {})).toMatchObject({ status: 404, code: 'InvalidAction' })
  const plain = async (path: string, method = 'POST') =>
    (await answerOf(await fetch(emulator.origin + path, { method }))).code
  expect(await plain('/?Action=ListAssets&Version=2024-01-01', 'GET')).toBe('MethodNotAllowed')
  expect(await plain('/?Action=ListAssets&Version=2018-01-01')).toBe('InvalidAction')
  expect(await plain('/?Version=2024-01-01')).toBe('MissingParameter.Action')
  expect(await plain('/elsewhere')).toBe('InvalidPath')
})

test('the rest API checks the key before the path', async () => {
  for (const authorization of ['', 'Bearer', 'Bearer wrong', emulator.rest.key]) {
    const response = await fetch(`${emulator.rest.url}/nowhere`, { headers: { authorization } })
    expect(await answerOf(response)).toMatchObject({ status: 401, code: 'AuthenticationError' })
  }
})

test('an id that contains path segments reaches the resource of the resolved path', async () => {
  const { id } = emulator.library.addGroup({ name: 'victim' })
  for (const path of [
    `/assets/%2e%2e/assets/groups/${id}`,
    `/assets/x%2F..%2Fgroups%2F${id}`,
    `/assets//groups/${id}`,
  ]) {
    const { status } = await new Promise<{ status?: number }>((resolve) => {
      const headers = { authorization: `Bearer ${emulator.rest.key}` }
      const url = new URL(emulator.origin)
      const target = new URL(emulator.rest.url).pathname + path
      const options = { host: url.hostname, port: url.port, path: target, headers, agent: false }
      request(options, (response) => {
        response.resume()
        resolve({ status: response.statusCode })
      }).end()
    })
    expect(status).toBe(200)
    expect(emulator.calls.at(-1)).toMatchObject({ action: 'GetAssetGroup' })
  }
})
