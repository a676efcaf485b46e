import { describe, expect, test } from 'bun:test'
import { createToken } from 'sluice/api-token'
import { startGateway } from '../support/gateway.ts'

/** A gateway that records the headers of all requests to both upstreams. */
const openGateway = async () => {
  const sent: Headers[] = []
  const recording = (url: string, init: RequestInit) => {
    sent.push(new Headers(init.headers))
    return fetch(url, init)
  }
  const gateway = await startGateway({ fetch: recording, text: { fetch: recording } })
  const ask = async (path: string, headers: Record<string, string>) => {
    const response = await fetch(gateway.url + path, { headers })
    return {
      status: response.status,
      headers: [...response.headers].filter(([header]) => !/^(?:date|x-request-id)$/.test(header)).sort(),
      text: await response.text(),
    }
  }
  return { gateway, sent, ask }
}

const paths = ['/v1/models', '/api/media/proxy/assets/groups']

describe.each(['x-api-key', 'api-key'])('a token in %s', (name) => {
  test('is accepted as one in Authorization is, and no header with it reaches an upstream', async () => {
    const { gateway, sent, ask } = await openGateway()
    await using _ = gateway
    const { ask: askAs, token } = await gateway.addUser('ann')
    expect((await askAs('POST', '/assets/groups', { Name: 'g' })).status).toBe(200)
    for (const path of paths) {
      const found = [await ask(path, { authorization: `Bearer ${token}` }), await ask(path, { [name]: token })]
      const [expected, actual] = found.map(({ status, text }) => [status, text.replace(/"RequestId":"\d+"/, '')])
      expect(expected?.[0]).toBe(200)
      expect(actual).toEqual(expected as never)
    }
    expect(sent.length).toBe(5)
    for (const headers of sent) {
      expect(headers.has(name)).toBe(false)
      expect(JSON.stringify([...headers])).not.toContain(token)
    }
  })

  test('gets the same 401 as one in Authorization', async () => {
    const { gateway, sent, ask } = await openGateway()
    await using _ = gateway
    for (const path of paths) {
      const expected = await ask(path, {})
      expect(expected.status).toBe(401)
      for (const token of [createToken(), 'x', '']) expect(await ask(path, { [name]: token })).toEqual(expected)
      const { token } = await gateway.addUser(`user of ${path}`)
      expect(await ask(path, { [name]: token, authorization: 'Bearer x' })).toEqual(expected)
    }
    expect(sent).toEqual([])
  })
})
