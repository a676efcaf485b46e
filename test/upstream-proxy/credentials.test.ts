import { describe, expect, test } from 'bun:test'
import { ark } from '../../plugins/upstream-proxy/index.ts'
import { failure, json, key, startScriptedUpstream } from './scripted-upstream.ts'

const read = { action: 'GetAsset', id: 'a' } as const
const invalid = { status: 502, message: 'upstream returned an invalid response' }

describe('the account’s credential never reaches a caller', () => {
  const escaped = [...key].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
  for (const form of [
    key,
    escaped,
    encodeURIComponent(`${key}/`).slice(0, -3),
    Buffer.from(`:${key}`).toString('base64'),
  ]) {
    test(`not in a successful response: ${form.slice(0, 18)}`, async () => {
      for (const step of [
        json(`{"Result":{"Id":"a","Name":"${form}"}}`),
        json('{"Result":{}}', 200, { 'x-request-id': form }),
      ]) {
        await using upstream = await startScriptedUpstream(step)
        expect(await failure(upstream.upstream().send(read))).toMatchObject(invalid)
      }
    })
  }

  test('the secret key of the kind ark never; its access key only in signed URLs, not in errors', async () => {
    const credentials = { accessKey: 'AKLT-access-key', secretKey: 'secret/key+0123456789==', region: 'cn-beijing' }
    const ask = async (status: number, text: string) => {
      await using upstream = await startScriptedUpstream(json(`{"Result":{"Id":"a","Name":"${text}"}}`, status))
      return await upstream.upstream({ kind: ark({ url: upstream.url, ...credentials }) }).send(read)
    }
    for (const form of [credentials.secretKey, credentials.secretKey.replaceAll('/', '\\/')]) {
      for (const status of [200, 403]) expect(await failure(ask(status, form))).toMatchObject(invalid)
    }
    expect((await ask(200, `https://e.example/?X-Tos-Credential=${credentials.accessKey}%2F2026`)).status).toBe(200)
    expect(await failure(ask(403, credentials.accessKey))).toMatchObject(invalid)
  })
})
