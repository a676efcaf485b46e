import { expect, test } from 'bun:test'
import { readFormParts } from '../../plugins/shared/http/body/multipart.ts'

const filenameOf = async (disposition: string) => {
  const body = async function* () {
    yield Buffer.from(`--b\r\nContent-Disposition: form-data; name="file"; ${disposition}\r\n\r\nx\r\n--b--\r\n`)
  }
  for await (const { filename } of readFormParts(body(), 'b')) return filename
}

test('a part with only `filename*` is a file', async () => {
  expect(await filenameOf("filename*=UTF-8''%e2%82%ac%20rates.png")).toBe('€ rates.png')
  expect(await filenameOf("filename*=utf-8'en'plain.png")).toBe('plain.png')
})

test('`filename` wins over `filename*`, and an invalid `filename*` still names a file', async () => {
  expect(await filenameOf('filename="a.png"; filename*=UTF-8\'\'b.png')).toBe('a.png')
  expect(await filenameOf("filename*=UTF-8''%ff.png")).toBe('%ff.png')
  expect(await filenameOf("filename*=iso-8859-1''%a3.png")).toBe("iso-8859-1''%a3.png")
})
