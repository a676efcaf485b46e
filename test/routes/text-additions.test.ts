import { expect, test } from 'bun:test'
import { ark } from '../../plugins/upstream-proxy/index.ts'
import { openFixture } from './fixture.ts'

const messages = [{ role: 'user', content: 'hello' }]

/** The fields that the gateway added to each upstream call. */
const additionsIn = (calls: readonly { readonly action: string; readonly body: string }[]) =>
  calls
    .filter(({ action }) => action.startsWith('Create'))
    .map(({ body }) => ['stream', 'stream_options', 'max_tokens'].filter((key) => key in JSON.parse(body)).join('+'))

const all = 'stream+stream_options+max_tokens'

for (const [model, path, asked, first, later] of [
  ['emulated-no-stream', '/chat/completions', { messages }, [all, 'max_tokens'], 'max_tokens'],
  ['emulated-no-stream', '/responses', { input: 'hello' }, ['stream', ''], ''],
  ['emulated-no-stream-options', '/chat/completions', { messages }, [all, 'stream+max_tokens'], 'stream+max_tokens'],
  ['emulated-2k', '/chat/completions', { messages }, [all, 'stream+stream_options'], 'stream+stream_options'],
] as const) {
  test(`${model} serves ${path}, streaming and non-streaming, with the parameters that it supports`, async () => {
    await using fixture = await openFixture({ kindOf: ({ ark: settings }) => ark(settings), kind: undefined })
    const { ann, url } = fixture
    const post = (more: object) =>
      fetch(`${url}/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, ...asked, ...more }),
      })
    fixture.calls()
    const plain = await post({})
    expect([plain.status, await plain.text()]).toEqual([200, expect.stringContaining('hello')])
    expect(additionsIn(fixture.calls())).toEqual([...first])
    const stream = await post({ stream: true })
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect(await stream.text()).toEndWith('data: [DONE]\n\n')
    expect(additionsIn(fixture.calls())).toEqual([later])
  })
}
