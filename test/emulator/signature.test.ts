import { afterAll, beforeAll, expect, test } from 'bun:test'
import { checkSignature, expectedSignature } from '../../src/emulator/api/signature.ts'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { answerOf, arkRequest } from './client.ts'

const NOW = Date.UTC(2026, 8, 1, 12)
const QUOTA = 'GetAssetQuota'
let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator({ clock: () => NOW })
})
afterAll(() => emulator.stop())

const VECTORS = [
  {
    title: 'with a signed content type',
    accessKey: 'AKLTEXAMPLE',
    secretKey: 'secretEXAMPLE',
    date: '20240102T030405Z',
    target: '/?Version=2024-01-01&Action=ListAssets&PageNumber=1',
    body: '{"AssetId":"asset-1","Name":"A B"}',
    headers: {
      'content-type': 'application/json',
      host: 'ark.cn-beijing.volcengineapi.com',
      'x-content-sha256': 'e280d025e397a7b39c92c34ac0621014f9e24477a1d220e4121aa5486d850a73',
    },
    canonicalHash: '48c234c5eeb387f0eef410fcd5674b69ed2755b91bacbe9332d001ba1a643275',
    signature: '43984fbc60e0ce6c51ba6c5fe5557ae621d9171bbdd96b28d4c5259f5babe731',
  },
  {
    title: 'without a content type',
    accessKey: 'AKLTEXAMPLE1234567890',
    secretKey: 'example-secret',
    date: '20260826T010203Z',
    target: '/?Action=ListAssets&Version=2024-01-01',
    body: '{"ProjectName":"default"}',
    headers: {
      host: 'open.volcengineapi.com',
      'x-content-sha256': '7e0a39e645f91c0fa13aea4108715f9f85a3f55f8d3e6af22c41b5b9d11fbde3',
    },
    canonicalHash: '0470641aaa50a37de9acdeaa2c570c7cfa9e23a17f6b55094fcadf396cc06f67',
    signature: '4b84e55069ecc0e89e44f8541d5b1690a4f9ce1cb33a4341f8ac196026d16ea1',
  },
]

for (const { title, accessKey, secretKey, date, target, body, canonicalHash, signature, ...vector } of VECTORS) {
  test(`the published test vector ${title} is reproduced and accepted`, () => {
    const headers = Object.fromEntries([...Object.entries(vector.headers), ['x-date', date]])
    const names = Object.keys(headers)
    const signer = { accessKey, secretKey, region: 'cn-beijing', service: 'ark' }
    const request = { method: 'POST', target, headers, body: Buffer.from(body) }
    expect(expectedSignature(request, names, signer)).toEqual({ canonicalHash, signature })

    const credential = `${accessKey}/${date.slice(0, 8)}/cn-beijing/ark/request`
    headers.authorization = `HMAC-SHA256 Credential=${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`
    const instant = Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
    expect(() => checkSignature(request, signer, instant)).not.toThrow()
  })
}

async function verdict(init: Parameters<typeof arkRequest>[3], headers: Record<string, string> = {}, body = '{}') {
  const request = arkRequest(emulator, QUOTA, '{}', { now: NOW, ...init })
  const sent = Object.entries({ ...request.headers, ...headers }).filter(([, value]) => value !== '')
  const response = await answerOf(await fetch(request.url, { method: 'POST', headers: Object.fromEntries(sent), body }))
  return `${response.status} ${response.code ?? 'fine'}`
}

test('a correctly signed request is accepted up to 15 minutes off the clock', async () => {
  expect(await verdict({})).toBe('200 fine')
  expect(await verdict({ now: NOW - 15 * 60_000 })).toBe('200 fine')
  expect(await verdict({ now: NOW + 15 * 60_000 })).toBe('200 fine')
})

test('a request that is stale, of another scope, changed or unsigned is rejected with its error code', async () => {
  expect(await verdict({ now: NOW - 15 * 60_000 - 1000 })).toBe('401 SignatureDoesNotMatch')
  expect(await verdict({ now: NOW + 15 * 60_000 + 1000 })).toBe('401 SignatureDoesNotMatch')
  expect(await verdict({ region: 'ap-southeast-1' })).toBe('401 SignatureDoesNotMatch')
  expect(await verdict({ service: 'iam' })).toBe('401 SignatureDoesNotMatch')
  expect(await verdict({ secretKey: 'wrong' })).toBe('401 SignatureDoesNotMatch')
  expect(await verdict({}, {}, '{"ProjectName":"x"}')).toBe('401 SignatureDoesNotMatch')
  expect(await verdict({}, { 'x-content-sha256': '' }, '{}')).toBe('401 SignatureDoesNotMatch')
  expect(await verdict({}, { authorization: 'HMAC-SHA256 nonsense' })).toBe('401 SignatureDoesNotMatch')
  expect(await verdict({}, { authorization: '' })).toBe('401 MissingParameter.Authorization')
  expect(await verdict({}, { 'x-date': '' })).toBe('401 MissingParameter.X-Date')
})

test('an unknown access key has its own error code', async () => {
  const other = { ...emulator, ark: { ...emulator.ark, accessKey: 'AKLTOTHER' } }
  const { url, ...init } = arkRequest(other, QUOTA, '{}', { now: NOW })
  expect((await answerOf(await fetch(url, { method: 'POST', ...init }))).code).toBe('InvalidAccessKeyId')
})

test('host and x-date must be signed headers, the body hash is optional', async () => {
  expect(await verdict({ leaveOut: 'host' })).toBe('401 SignatureDoesNotMatch')
  expect(await verdict({ leaveOut: 'x-date' })).toBe('401 SignatureDoesNotMatch')
  expect(await verdict({ leaveOut: 'x-content-sha256' })).toBe('200 fine')
})

test('a wrong region or service in the scope is named in the error', async () => {
  for (const [part, init] of Object.entries({ region: { region: 'ap-southeast-1' }, service: { service: 'iam' } })) {
    const { url, ...request } = arkRequest(emulator, QUOTA, '{}', { now: NOW, ...init })
    expect(await (await fetch(url, { method: 'POST', ...request })).text()).toContain(`The ${part} of the credential`)
  }
})
