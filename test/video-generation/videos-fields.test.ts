import { describe, expect, test } from 'bun:test'
import { FieldProblem } from '../../plugins/shared/field-problem.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { thrown } from '../clients/fixture.ts'
import { end, formRequest, jsonRequest, part, png, rawForm, read } from './videos-fixture.ts'

const problem = async (request: Request, maxBodyBytes?: number) => {
  const error = await thrown(read(request, undefined, maxBodyBytes))
  if (!(error instanceof Problem)) throw error
  const { status, message } = error
  return error instanceof FieldProblem ? { status, message, param: error.param } : { status, message }
}

const incomplete = { status: 400, message: 'request body is not a complete multipart/form-data form' }

describe('the fields of a request', () => {
  test('a form has texts, files and members of objects', async () => {
    const fields = await read(
      formRequest({
        prompt: 'a cat 🐈',
        'input_reference[image_url]': 'asset://a',
        input_reference: new File([png], 'a.png', { type: 'image/png' }),
      }),
    )
    expect([...fields.keys()]).toEqual(['prompt', 'input_reference.image_url', 'input_reference'])
    expect(fields.get('prompt')).toBe('a cat 🐈')
    expect(new Uint8Array(fields.get('input_reference') as Uint8Array)).toEqual(png)
  })

  test('a JSON object has the same, and whole numbers count as texts', async () => {
    const body = { prompt: 'a cat', seconds: 8, model: null, input_reference: { image_url: 'asset://a' } }
    const fields = await read(jsonRequest(body))
    expect([...fields]).toEqual([
      ['prompt', 'a cat'],
      ['seconds', '8'],
      ['input_reference.image_url', 'asset://a'],
    ])
  })

  test('the boundary may be quoted, and the content type in any case', async () => {
    const body = part('prompt', 'a') + end
    for (const type of [
      'multipart/form-data; boundary="x-boundary"',
      'Multipart/Form-Data; Boundary=x-boundary',
      'multipart/form-data; charset=utf-8;boundary=x-boundary ; a=b',
    ]) {
      expect([...(await read(rawForm(body, type)))]).toEqual([['prompt', 'a']])
    }
  })

  test('unknown fields are named, but only their beginning', async () => {
    const unknown = { status: 400, message: "unknown parameter: 'n'", param: 'n' }
    expect(await problem(formRequest({ n: '2' }))).toEqual(unknown)
    expect(await problem(jsonRequest({ n: 2 }))).toEqual(unknown)
    expect(await problem(rawForm(part('__proto__', 'a') + end))).toMatchObject({ param: '__proto__' })
    const long = await problem(formRequest({ ['n'.repeat(100_000)]: '2' }))
    expect(long.message.length).toBeLessThan(200)
  })

  test('a field has one value', async () => {
    const twice = { status: 400, message: 'prompt is given more than once', param: 'prompt' }
    expect(await problem(rawForm(part('prompt', 'a') + part('prompt', 'b') + end))).toEqual(twice)
    expect(await problem(jsonRequest('{"prompt":"a","prompt":"b"}'))).toEqual(twice)
    const both = '{"input_reference":{"image_url":"a"},"input_reference.image_url":"b"}'
    expect(await problem(jsonRequest(both))).toMatchObject({ param: 'input_reference.image_url' })
  })

  test('a field is a text', async () => {
    for (const value of [true, ['a'], 1.5, -1]) {
      const text = { status: 400, message: 'prompt must be a string', param: 'prompt' }
      expect(await problem(jsonRequest({ prompt: value }))).toEqual(text)
    }
    expect(await problem(jsonRequest({ input_reference: { image_url: { url: 'a' } } }))).toMatchObject({ status: 400 })
  })
})

describe('a hostile form', () => {
  test('without its end is rejected', async () => {
    const whole = part('prompt', 'a') + part('model', 'm') + end
    for (const body of [
      '',
      'junk',
      part('prompt', 'a'),
      `${part('prompt', 'a')}--x-boundary\r\n`,
      `${part('prompt', 'a')}--x-boundary-`,
      part('prompt', 'a') + part('model', 'm'),
      whole.slice(0, whole.length - 4),
      whole.slice(0, 20),
    ]) {
      expect(await problem(rawForm(body))).toEqual(incomplete)
    }
    expect([...(await read(rawForm(whole)))]).toHaveLength(2)
  })

  test('with thousands of parts is rejected before they are parsed', async () => {
    const many = { status: 400, message: 'the form must have at most 32 parts' }
    const body = Array.from({ length: 5_000 }, (_, index) => part(`p${index}`, 'a')).join('') + end
    expect(await problem(rawForm(body))).toEqual(many)
    const delimiters = part('prompt', '--x-boundary'.repeat(5_000)) + end
    expect(await problem(rawForm(delimiters))).toEqual(many)
    const names = Array.from({ length: 32 }, (_, index) => `p${index}`)
    const fields = await read(rawForm(names.map((name) => part(name, 'a')).join('') + end), names)
    expect(fields.size).toBe(32)
  })

  test('above the limit of bytes is rejected, with and without Content-Length', async () => {
    const body = part('prompt', 'a'.repeat(2 ** 20)) + end
    const large = { status: 413, message: 'request body is too large' }
    expect(await problem(rawForm(body), 2 ** 20)).toEqual(large)
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(part('prompt', 'a'.repeat(1000)))),
    })
    const headers = { 'content-type': 'multipart/form-data; boundary=x-boundary' }
    const endless = new Request('http://localhost/', { method: 'POST', headers, body: stream })
    expect(await problem(endless, 2 ** 20)).toEqual(large)
  })

  test('within a form is a text or a file of the outer form', async () => {
    const nested = `--y\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nb\r\n--y--`
    const body = part('prompt', nested, '\r\nContent-Type: multipart/mixed; boundary=y') + end
    const fields = await read(rawForm(body))
    expect([...fields]).toEqual([['prompt', nested]])
  })

  test('with a boundary that no client sends is rejected', async () => {
    for (const boundary of ['', '=', '=""', `=${'x'.repeat(71)}`, '="a\u00e9"', '=a b', '="a ']) {
      expect(await problem(rawForm(end, `multipart/form-data; boundary${boundary}`))).toEqual(incomplete)
    }
    expect(await problem(rawForm(end, 'multipart/form-data'))).toEqual(incomplete)
  })

  test('with large headers of a part is an error or a value, within the limit of bytes', async () => {
    for (const header of [`X: ${'a'.repeat(2 ** 19)}`, 'X: a\r\n'.repeat(2 ** 16).trim(), 'X', ':', '\0']) {
      const result = await read(rawForm(part('prompt', 'a', `\r\n${header}`) + end)).catch((error: unknown) => error)
      expect(result instanceof Map ? result.get('prompt') : (result as Problem).status).toBeOneOf(['a', 400])
    }
  })

  test('whose file contains the boundary keeps the file', async () => {
    const content = 'before--x-boundaryafter\r\n--x-boundaryX\r\n'
    const fields = await read(rawForm(part('input_reference', content, '; filename="a"') + end)).catch(() => undefined)
    expect(Buffer.from(fields?.get('input_reference') as Uint8Array).toString()).toBe(content)
  })
})
