import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { ark, rest } from './client.ts'

const EXTRA = '"zz":12345678901234567890,"1":1.0,"__proto__":{"b":[1e400, "\\u0041"]},"a" :null,"zz":2'
let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator()
})
afterAll(() => emulator.stop())

test('unknown fields of a create request are returned byte for byte in details and lists', async () => {
  const group = await rest(emulator, 'POST', '/assets/groups', `{"Name":"g",${EXTRA}}`)
  const id = group.Result.Id
  const body = `{${EXTRA},"GroupId":"${id}","URL":"https://x.example/a.png","AssetType":"Image"}`
  const asset = await ark(emulator, 'CreateAsset', body)
  expect(asset.status).toBe(200)
  for (const path of [`/assets/groups/${id}`, '/assets/groups', '/assets', `/assets/${asset.Result.Id}`]) {
    expect((await rest(emulator, 'GET', path)).text).toContain(`,${EXTRA}}`)
  }
})

test('a create request cannot set the fields that the upstream sets itself', async () => {
  const reserved = '"Id":"mine","Title":"t","CreateTime":"1999","GroupType":"AIGC"'
  const { Result } = await rest(emulator, 'POST', '/assets/groups', `{"Name":"planted",${reserved}}`)
  const { text } = await rest(emulator, 'GET', `/assets/groups/${Result.Id}`)
  expect(text).not.toMatch(/mine|1999|Title/)
})
