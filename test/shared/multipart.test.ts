import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { boundaryOf, readFormParts } from '../../plugins/shared/http/body/multipart.ts'

async function* split(bytes: Uint8Array, at: readonly number[]) {
  let from = 0
  for (const to of [...at].map((each) => each % (bytes.length + 1)).sort((a, b) => a - b)) {
    yield bytes.subarray(from, to)
    from = to
  }
  yield bytes.subarray(from)
}

const formOf = (parts: readonly (readonly [head: string, content: Uint8Array])[], boundary = 'b') =>
  Buffer.concat([
    ...parts.flatMap(([head, content]) => [
      Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
      content,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\nepilogue`),
  ])

const read = async (body: Uint8Array, at: readonly number[] = [], boundary = 'b') => {
  const parts: unknown[] = []
  for await (const { name, filename, contentType, bytes } of readFormParts(split(body, at), boundary)) {
    const chunks: Uint8Array[] = []
    for await (const chunk of bytes) chunks.push(chunk)
    parts.push([name, filename, contentType, Buffer.concat(chunks).toString('latin1')])
  }
  return parts
}

describe('the parts of a form', () => {
  test('are the same wherever the body is split', async () => {
    const content = fc.array(fc.constantFrom('\r', '\n', '-', 'b', '\r\n--', '\r\n-', 'x'), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          content.map((pieces) => pieces.join('').replaceAll('\r\n--b', 'y')),
          { maxLength: 4 },
        ),
        fc.array(fc.nat(), { maxLength: 30 }),
        async (contents, at) => {
          const head = 'Content-Disposition: form-data; name="n"; filename="f"'
          const body = formOf(contents.map((text) => [head, Buffer.from(text)]))
          expect(await read(body, at)).toEqual(contents.map((text) => ['n', 'f', undefined, text]))
        },
      ),
      { numRuns: 300 },
    )
  })

  test('have names with quotes, and headers in any case', async () => {
    const head = 'CONTENT-DISPOSITION: form-data; name=plain; filename="a \\"b\\" ü.png"\r\ncontent-type:image/png'
    expect(await read(formOf([[head, Buffer.from('x')]]))).toEqual([['plain', 'a "b" ü.png', 'image/png', 'x']])
    expect(await read(formOf([['content-disposition: form-data; filename="f"', Buffer.from('')]]))).toEqual([
      [undefined, 'f', undefined, ''],
    ])
  })

  test('may follow a preamble, and a boundary may be followed by spaces', async () => {
    const body = Buffer.from('ignored\r\n--b \t\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n--b--')
    expect(await read(body)).toEqual([['a', undefined, undefined, 'x']])
    expect(await read(Buffer.from('--b--'))).toEqual([])
  })

  test('that is not read is skipped', async () => {
    const body = formOf(
      [1, 2, 3].map((nth) => [`content-disposition: form-data; name="${nth}"`, Buffer.alloc(nth * 1000)]),
    )
    const names: unknown[] = []
    for await (const { name, bytes } of readFormParts(split(body, [10, 1500]), 'b')) {
      names.push(name)
      if (name === '2') await bytes.next()
    }
    expect(names).toEqual(['1', '2', '3'])
  })

  test.each([
    ['ends before its last boundary', '--b\r\na: b\r\n\r\nx\r\n--b\r\n'],
    ['has no boundary', 'x'],
    ['is empty', ''],
    ['has a header without a colon', '--b\r\nabc\r\n\r\nx\r\n--b--'],
    ['has a header without an end', `--b\r\na: ${'x'.repeat(10_000)}`],
    ['has too many headers', `--b\r\n${'a: b\r\n'.repeat(3_000)}\r\nx\r\n--b--`],
    ['has text after a boundary', '--b\r\na: b\r\n\r\nx\r\n--bc\r\n'],
    ['has too many parts', `${'--b\r\na: b\r\n\r\nx\r\n'.repeat(101)}--b--`],
  ])('of a body that %s are rejected', async (_name, body) => {
    await expect(read(Buffer.from(body))).rejects.toThrow(/request body (?:is not valid|has more)/)
  })
})

test.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['Multipart/Form-Data; charset=utf-8; Boundary="a b"', 'a b'],
  ['multipart/form-data; boundary=----WebKitFormBoundary1', '----WebKitFormBoundary1'],
  ['multipart/form-data', undefined],
  ['multipart/form-data; boundary=', undefined],
  [`multipart/form-data; boundary=${'a'.repeat(71)}`, undefined],
  ['multipart/form-data; boundary="a "', undefined],
  ['multipart/mixed; boundary=abc', undefined],
  ['image/png', undefined],
])('the boundary of %p is %p', (type, boundary) => {
  expect(boundaryOf(type)).toBe(boundary as string)
})
