import { describe, expect, test } from 'bun:test'
import { repeatedDatabases } from '../support/database.ts'
import type { User } from '../support/gateway.ts'
import { type FaceFixture, openFaceFixture } from './fixture.ts'

const model = 'doubao-seed-emulated'

const showing = (asset: string) => ({
  input: [{ role: 'user', content: [{ type: 'input_image', image_url: `asset://${asset}`, detail: 'auto' }] }],
})

const respond = async ({ fixture }: FaceFixture, { token }: User, request: object) => {
  const response = await fetch(`${fixture.gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'who is it?', ...request }),
  })
  const json = (await response.json()) as { id: string; error?: { message: string; param: string; code: string } }
  return { status: response.status, json }
}

describe.each(repeatedDatabases)('after a withdrawal (%s)', (database) => {
  test('the upstream continues no response that shows the person', async () => {
    await using face = await openFaceFixture({ database })
    const { ann, emulator } = face.fixture
    const first = await respond(face, ann, showing(face.asset))
    expect(first.status).toBe(200)
    const second = await respond(face, ann, { previous_response_id: first.json.id })
    expect(second.status).toBe(200)
    const other = await respond(face, ann, {})
    await face.withdraw()
    const before = emulator.calls.length
    const direct = await respond(face, ann, showing(face.asset))
    expect(direct.status).toBe(403)
    for (const { json } of [first, second]) {
      const refused = await respond(face, ann, { previous_response_id: json.id })
      // As the asset itself is.
      expect([refused.status, refused.json.error]).toEqual([
        403,
        { ...direct.json.error, param: 'previous_response_id' } as never,
      ])
    }
    expect(emulator.calls.slice(before).filter(({ action }) => action === 'CreateResponse')).toEqual([])
    expect((await respond(face, ann, { previous_response_id: other.json.id })).status).toBe(200)
  })
})
