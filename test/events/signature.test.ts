import { expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { createSecret, signedHeaders } from '../../plugins/events/webhooks/signature.ts'

const now = () => Math.floor(Date.now() / 1000)

test('the library of the specification verifies a delivery, by any of the secrets', () => {
  const [first, second] = [createSecret(), createSecret()]
  const body = '{"type":"video.succeeded","data":{"ä":"😀"}}'
  const headers = signedHeaders('evt_1', now(), body, [first, second])
  for (const secret of [first, second]) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
  expect(() => new Webhook(createSecret()).verify(body, headers)).toThrow('No matching signature')
  expect(() => new Webhook(first).verify(`${body} `, headers)).toThrow('No matching signature')
  expect(() => new Webhook(first).verify(body, { ...headers, 'webhook-id': 'evt_2' })).toThrow('No matching signature')
  const old = signedHeaders('evt_1', now() - 600, body, [first])
  expect(() => new Webhook(first).verify(body, old)).toThrow('too old')
})

test('without a secret there is no signature', () => {
  expect(signedHeaders('msg_1', 5, '{}', [])).toEqual({ 'webhook-id': 'msg_1', 'webhook-timestamp': '5' })
})

test('a secret has 256 random bits', () => {
  const secrets = new Set(Array.from({ length: 100 }, createSecret))
  expect(secrets.size).toBe(100)
  for (const secret of secrets) expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32)
})
