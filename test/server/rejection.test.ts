import { expect, test } from 'bun:test'
import { Problem, type ProblemBody } from '../../plugins/shared/problem.ts'
import { renderRejection } from '../../src/app/request/rejection.ts'

const targets = ['/api/media/proxy/assets', '/v1/chat/completions', '/v1/messages', '/api/v3/contents']

test('a rejection has the shape of the API of its target, and each shape is made once', async () => {
  const shapes: ProblemBody[] = []
  const problem = new (class extends Problem {
    override toResponse(body: ProblemBody): Response {
      shapes.push(body)
      return super.toResponse(body)
    }
  })(503, 'the server is busy')
  const render = renderRejection('media')
  const bodies = async () => {
    const texts: string[] = []
    for (const target of targets) texts.push(await render(problem, target).text())
    return texts
  }
  const first = await bodies()
  expect(first.map((text) => text.replace(/"request_id":.*/, ''))).toEqual([
    '{"success":false,"error":{"message":"the server is busy","type":"media_proxy_error"}}',
    '{"error":{"message":"the server is busy","type":"server_error","param":null,"code":null}}',
    '{"type":"error","error":{"type":"overloaded_error","message":"the server is busy"},',
    expect.stringContaining('the server is busy'),
  ])
  expect(await bodies()).toEqual(first)
  expect(new Set(shapes).size).toBe(targets.length)
})
