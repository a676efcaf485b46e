import { expect, test } from 'bun:test'
import { contentTypeOf, sniffFileType } from '../../plugins/shared/media/file-type.ts'

const bytesOf = (text: string) => Buffer.from(text.padEnd(64, '\0'), 'latin1')

test.each([
  ['\xff\xd8\xff\xe0', 'image/jpeg'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
  ['RIFF\x10\0\0\0WAVEfmt ', 'audio/wav'],
  ['BM\x10\0\0\0\0\0\0\0\x36\0\0\0\x28', 'image/bmp'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
  ['\0\0\0\x18ftypheic', 'image/heic'],
  ['\0\0\0\x18ftypmif1', 'image/heif'],
  ['\0\0\0\x18ftypisom', 'video/mp4'],
  ['\0\0\0\x18ftypmp42', 'video/mp4'],
  ['\0\0\0\x18ftypM4V ', 'video/mp4'],
  ['\0\0\0\x14ftypqt  ', 'video/quicktime'],
  ['\0\0\0\x08wide\0\0\0\0mdat', 'video/quicktime'],
  ['ID3\x04', 'audio/mpeg'],
  ['\xff\xfb\x90\x64', 'audio/mpeg'],
])('a file that begins with %p is %p', (text, type) => {
  expect(sniffFileType(bytesOf(text))?.contentType).toBe(type)
})

test.each([
  '',
  '<!doctype html>',
  '<svg xmlns="http://www.w3.org/2000/svg">',
  'BM<script>alert(1)</script>',
  '%PDF-1.7',
  'PK\x03\x04',
  'MZ',
  '\x7fELF',
  '#!/bin/sh',
  '\x1aE\xdf\xa3webm',
  'RIFF\x10\0\0\0AVI LIST',
  '\0\0\0\x18ftypM4A ',
  '\0\0\0\x18ftypavif',
  '\xff\xff\xff\xff',
  '\xff\xfb\xf0\x64',
  '\xff\xfb\x9c\x64',
])('a file that begins with %p is of no type', (text) => {
  expect(sniffFileType(bytesOf(text))).toBeUndefined()
  expect(sniffFileType(Buffer.from(text, 'latin1'))).toBeUndefined()
})

test('a key has the content type of its extension, and none without a known one', () => {
  expect(contentTypeOf('a/b.mp4')).toBe('video/mp4')
  for (const key of ['a/b.html', 'a/b.svg', 'a/mp4', 'a/b.MP4', 'a/b.mp4.html', 'a/b.constructor']) {
    expect(contentTypeOf(key)).toBeUndefined()
  }
})
