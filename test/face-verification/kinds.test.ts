import { describe, expect, test } from 'bun:test'
import { declareOwned } from '../../plugins/shared/owned-id.ts'
import { ark, rest } from '../../plugins/upstream-proxy/index.ts'
import { bodyOf, built } from '../upstream-proxy/scripted-upstream.ts'

const owned = (id: string) => declareOwned('verification', { id })

describe('rest: the face verification paths are beside the proxy path', () => {
  for (const [url, faceUrl] of [
    ['https://u.test/api/media/proxy', 'https://u.test/api/media/face-verifications'],
    ['https://u.test/api/media/proxy//', 'https://u.test/api/media/face-verifications'],
    ['https://u.test', 'https://u.test/face-verifications'],
  ] as const) {
    test(`base ${url} leads to ${faceUrl}`, async () => {
      const kind = rest({ url, key: 'k' })
      const body = bodyOf('{ "a" :1}')
      expect(await built(kind, { action: 'CreateVisualValidateSession', body })).toEqual({
        method: 'POST',
        url: faceUrl,
        headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
        body: '{ "a" :1}',
      })
      expect(await built(kind, { action: 'GetVisualValidateResult', verification: owned('v/1 ?') })).toEqual({
        method: 'GET',
        url: `${faceUrl}/v%2F1%20%3F`,
        headers: { authorization: 'Bearer k' },
        body: undefined,
      })
    })
  }

  test('a creation is sent without ProjectName', async () => {
    const kind = rest({ url: 'https://u.test/proxy', key: 'k' })
    const body = bodyOf('{"ProjectName":"p","x":1.0}')
    expect(await built(kind, { action: 'CreateVisualValidateSession', body })).toMatchObject({ body: '{"x":1.0}' })
  })
})

describe('ark: signed actions', () => {
  const kind = ark({ url: 'https://ark.test', accessKey: 'a', secretKey: 's', region: 'r', project: 'mine' })

  test('a creation has the callback and project of the gateway, not those of the caller', async () => {
    const body = bodyOf(
      '{"callbackurl":"https://evil.test","Callback_URL":1,"CallbackURL":2,"ProjectName":"theirs","lng":"zh"}',
    )
    const sent = await built(kind, { action: 'CreateVisualValidateSession', body, callbackUrl: 'https://gate.test/cb' })
    expect(sent.url).toBe('https://ark.test/?Action=CreateVisualValidateSession&Version=2024-01-01')
    expect(JSON.parse(sent.body ?? '')).toEqual({ lng: 'zh', CallbackURL: 'https://gate.test/cb', ProjectName: 'mine' })
    expect(sent.headers.authorization).toStartWith('HMAC-SHA256 Credential=a/')
  })

  test('a request for the result has the session’s token and the configured project', async () => {
    const sent = await built(kind, { action: 'GetVisualValidateResult', verification: owned('the token') })
    expect(sent.url).toBe('https://ark.test/?Action=GetVisualValidateResult&Version=2024-01-01')
    expect(JSON.parse(sent.body ?? '')).toEqual({ BytedToken: 'the token', ProjectName: 'mine' })
  })
})
