import { describe, expect, test } from 'bun:test'
import { gateway } from '../../plugins/asset-library/index.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { MemoryStore } from './memory.ts'

/** A gateway whose user has the groups `cats` and `dogs`, and its upstream calls. */
const start = () => {
  const store = new MemoryStore()
  for (const name of ['cats', 'dogs']) store.add({ id: `g-${name}`, user: 'ann', name })
  const sent: string[] = []
  const app = gateway({
    store,
    kind: rest({ url: 'http://upstream.invalid', key: 'upstream-key' }),
    fetch: async (_, { body } = {}) => {
      sent.push(new TextDecoder().decode(body as Uint8Array))
      return Response.json({ Result: { Id: 'g-new' } })
    },
    identify: () => ({ user: 'ann' }),
    secrets: ['s, a secret of the tests'],
  })
  const ask = async (method: string, path: string, body: string) => {
    const response = await app.handle(
      new Request(`http://localhost/api/media/proxy/assets/groups${path}`, { method, body }),
    )
    const { error } = (await response.json()) as { error?: { message: string } }
    return `${response.status} ${error?.message ?? ''}`.trim()
  }
  return { ask, sent }
}

const long = 'x'.repeat(301)

describe('a duplicate or ambiguous name is rejected before the upstream call', () => {
  for (const [method, path, body, response] of [
    ['POST', '', '{"Name":"cats"}', '400 an asset group with the same Name and GroupType already exists'],
    ['POST', '', '{"name":"cats"}', '400 Name is required'],
    ['POST', '', '{"Name":"new","name":"cats"}', '400 name stands twice in the body'],
    ['POST', '', '{"Name":"new","N\\u0061me":"cats"}', '400 Name stands twice in the body'],
    ['POST', '', '{"Name":"new","grouptype":"LivenessFace"}', '400 grouptype has to be written GroupType'],
    ['PUT', '/g-dogs', '{"Name":"cats"}', '400 an asset group with the same Name and GroupType already exists'],
    ['PUT', '/g-dogs', '{"name":"cats"}', '400 name has to be written Name'],
    ['PATCH', '/g-dogs', '{"NAME":"cats"}', '400 NAME has to be written Name'],
  ] as const) {
    test(`${method} ${body}`, async () => {
      const { ask, sent } = start()
      expect(await ask(method, path, body)).toBe(response)
      expect(sent).toEqual([])
    })
  }
})

describe('a new group is validated in the documented order', () => {
  for (const [body, response] of [
    [`{"Description":"${long}","GroupType":"x"}`, '400 Name is required'],
    [`{"Name":5,"Description":"${long}"}`, '400 Name is required'],
    [`{"Name":"","Description":"${long}"}`, '400 Name is required'],
    [`{"Name":"${'x'.repeat(65)}","Description":"${long}","GroupType":"x"}`, '400 Name must be at most 64 characters'],
    [`{"Name":"x","Description":"${long}","GroupType":"x"}`, '400 Description must be at most 300 characters'],
    ['{"Name":"cats","GroupType":"LivenessFace"}', '400 GroupType only supports AIGC'],
    ['{"Name":"cats"}', '400 an asset group with the same Name and GroupType already exists'],
  ] as const) {
    test(`${body.replace(/x{9,}/g, '…')}`, async () => {
      const { ask, sent } = start()
      expect(await ask('POST', '', body)).toBe(response)
      expect(sent).toEqual([])
    })
  }

  test('and is forwarded unchanged', async () => {
    const { ask, sent } = start()
    expect(await ask('POST', '', '{ "Name":"\\u006eew", "n":1.0,"GroupType":"AIGC" }')).toBe('200')
    expect(sent).toEqual(['{ "Name":"\\u006eew", "n":1.0,"GroupType":"AIGC" }'])
  })
})
