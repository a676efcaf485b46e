const boxHeader = 8

/**
 * A playable video: the sample, then a `free` box (ISO/IEC 14496-12 section 8.1.2) with the id of the task, so that the
 * videos of two tasks differ, and zeros up to `size` bytes. `mov` has the brand of QuickTime.
 */
export const videoOf = (taskId: string, format: 'mp4' | 'mov' = 'mp4', size = 0): Uint8Array => {
  const id = Buffer.from(taskId)
  const free = Buffer.alloc(Math.max(boxHeader + id.length, size - sampleVideo.length))
  free.writeUInt32BE(free.length)
  free.write('free', 4)
  id.copy(free, boxHeader)
  const video = Buffer.concat([sampleVideo, free])
  if (format === 'mov') video.write('qt  ', 8)
  return video
}

/** A JPEG image: the last frame of the sample, with the id of the task as comment. */
export const frameOf = (taskId: string): Uint8Array => {
  const id = Buffer.from(taskId)
  const comment = Buffer.from([0xff, 0xfe, 0, id.length + 2])
  return Buffer.concat([sampleFrame.subarray(0, 2), comment, id, sampleFrame.subarray(2)])
}

/**
 * The last frame of the sample video as JPEG: `ffmpeg -sseof -0.05 -i sample.mp4 -frames:v 1 -q:v 31 -huffman optimal
 * frame.jpg`.
 */
const sampleFrame: Uint8Array = Buffer.from(
  '/9j/4AAQSkZJRgABAgAAAQABAAD/2wBDAAg+Pkk+SVVVVVVVVWRdZGhoaGRkZGRoaGhwcHCDg4NwcHBoaHBwfHyDg4+Tj4eHg4eTk5ubm7q6srLZ' +
    '2eD/////xABSAAEBAQEBAQAAAAAAAAAAAAABAAIDBAYBAQEBAQAAAAAAAAAAAAAAAAABAgMQAQAAAAAAAAAAAAAAAAAAAAARAQAAAAAAAAAAAAAA' +
    'AAAAAAD/wAARCACQAQADASIAAhEAAxEA/9oADAMBAAIRAxEAPwD4oguyJJIqSQJIg0khSkWVDQaYbCSdhFFxVzDSANBoQFEUIoCkUVkFAkUivOiX' +
    'VwAaTIE0RWC0AZaaaRploNDaII0EiCKLKMooVkotAKLKBEstMopQIpBFEHBEujkA0hoJoIgTQFRDQAhpFRDTDbJRBEpGgigSKBglAEUBSKNBFAEU' +
    'I4JtOjkwGwilpNMq5kpRJpMtMppCgpoaYaRQTSLLQTSQc0U0gaRRQmkgCiDKaCokU5q85LTu5MFpIoDYRQGwAKKARKKkUy0EiCIaRpNhpFc0UqsF' +
    'EZTYaRXNFKpRIJEstPMmk6uLKaQAlIrBJAIlgRRG2SUDJRANAjRKLKsooQJtCsFNAy2GmWmU0BWW2WxHlRTo5lNJlAiWlYTaBlNJhsIkZZJI0wSQ' +
    'ZKaZZLQLLqyUVAigZaBQTQLKhFKAppB5C0nZzZTYQBaKNMBtKgaJYdGE0kASRWCSDDRIjJJRoIpFSaSo5EkQIpGmiiw0CUDypJ3cEUWVLQaRWCkB' +
    'RQrKREBLQrmS0gyU0jTJRYUNhtGmE0mkc0UiBsNo0UUw2Cko/9k=',
  'base64',
)

/**
 * Two seconds of a moving colour gradient: H.264 (constrained baseline), 256x144, 24 frames/s, without sound. Made with
 * FFmpeg:
 *
 * `ffmpeg -f lavfi -i "gradients=s=256x144:r=24:d=2:c0=0x1b3a5c:c1=0xe07a3f:x0=0:y0=0:x1=255:y1=143:speed=0.02:seed=1"
 * -c:v libx264 -profile:v baseline -level 3.0 -pix_fmt yuv420p -crf 40 -g 48 -bf 0 -x264-params threads=1:no-scenecut=1
 * -bsf:v filter_units=remove_types=6 -movflags +faststart -fflags +bitexact -flags:v +bitexact -map_metadata -1
 * sample.mp4`
 */
const sampleVideo: Uint8Array = Buffer.from(
  'AAAAIGZ0eXBpc29tAAACAGlzb21pc28yYXZjMW1wNDEAAAPAbW9vdgAAAGxtdmhkAAAAAAAAAAAAAAAAAAAD6AAAB9AAAQAAAQAAAAAAAAAAAAAA' +
    'AAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAw90cmFrAAAAXHRraGQAAAAD' +
    'AAAAAAAAAAAAAAABAAAAAAAAB9AAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAQAAAACQAAAAAAAk' +
    'ZWR0cwAAABxlbHN0AAAAAAAAAAEAAAfQAAAAAAABAAAAAAKHbWRpYQAAACBtZGhkAAAAAAAAAAAAAAAAAAAwAAAAYABVxAAAAAAALWhkbHIAAAAA' +
    'AAAAAHZpZGUAAAAAAAAAAAAAAABWaWRlb0hhbmRsZXIAAAACMm1pbmYAAAAUdm1oZAAAAAEAAAAAAAAAAAAAACRkaW5mAAAAHGRyZWYAAAAAAAAA' +
    'AQAAAAx1cmwgAAAAAQAAAfJzdGJsAAAAunN0c2QAAAAAAAAAAQAAAKphdmMxAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAQAAkABIAAAASAAAAAAA' +
    'AAABDExhdmMgbGlieDI2NAAAAAAAAAAAAAAAAAAAAAAAAAAAGP//AAAAMGF2Y0MBQsAe/+EAGGdCwB7ZAQE7ARAAAAMAEAAAAwMA8WLkgAEABWjL' +
    'gOSyAAAAEHBhc3AAAAABAAAAAQAAABRidHJ0AAAAAAAAIMwAACDMAAAAGHN0dHMAAAAAAAAAAQAAADAAAAIAAAAAFHN0c3MAAAAAAAAAAQAAAAEA' +
    'AAAcc3RzYwAAAAAAAAABAAAAAQAAADAAAAABAAAA1HN0c3oAAAAAAAAAAAAAADAAAAEZAAAACgAAAAsAAAAKAAAADwAAABEAAAAvAAAAKwAAAB4A' +
    'AABGAAAAIgAAACIAAAAfAAAAHwAAAB4AAAA3AAAAKgAAACUAAAAuAAAAJgAAADYAAABRAAAAJgAAAC4AAAAbAAAANgAAACcAAAAaAAAAHQAAACEA' +
    'AAAfAAAAKQAAAC4AAAAtAAAANgAAADIAAAAyAAAAJwAAAB0AAAAjAAAALQAAADUAAAArAAAAJAAAACkAAAAmAAAALwAAACUAAAAUc3RjbwAAAAAA' +
    'AAABAAAD8AAAAD11ZHRhAAAANW1ldGEAAAAAAAAAIWhkbHIAAAAAAAAAAG1kaXJhcHBsAAAAAAAAAAAAAAAACGlsc3QAAAAIZnJlZQAACDttZGF0' +
    'AAABFWWIhHxGKAAIAccMcZNRGvojX0Rr6TUR/RGvojVojX0Rr0Rr6I1aI19Ea9EatXN/Tdqenm/ptWp1M69Nr02rTatNr1OpnVptfVqnU2vTa+ml' +
    'VqdTOvTSfTdpv6uZ/Tf036Z/Tdpv6b+m7VzP6aX6btTqZ16aRem19Nr1OptWmdWm16tU6m16bX16t1Pr08SvptfTTWm/TSWm/Tf1cz2m/q5mW1c0' +
    'n036btNr07OrT69M6tNIvTatTqbX1arU2vptem19Nr02rTa9N2mf02vp516bX02vppPU839WqebtN+mktN+m7Ta9bqnm7TT+plmZFabXqdTf00i+' +
    'm16bVptem1abXpv6btNr0+vT6+n7TOvTTr6bX2AAAAAGQZo4XgJGAAAAB0GaVBeAkYAAAAAGQZpjwEjAAAAAC0GagfBAfgUfX0EEAAAADUGaofHC' +
    'eCI/Ah+vQ9AAAAArQZrB8V6vQjsR+B5xx+Efjz8Ijv2O/o8V+BRwkL19WB24pfArYs+qwLmOgAAAACdBmuHxoj644/4CDwgKJxXHiuT0X0Ii9fRl' +
    'd+vUO19CAvXo+gERj4AAAAAaQZsAvDZ+CE/CRyZhzr6Jr65MH2PwM2EPhCAAAABCQZsh8mBB////////////yjp7Qj9r+NHTK2O/Y7t4PsV6tOK8' +
    'c9sVzjteivkoD5sd+8HGI+IHfq9emHdvB9i/XpvqAAAAHkGbQfAh4NsdgcP94GDju0X9/VcX82BexXy/QpVEwAAAAB5Bm2PBngXOO7RuBu98fX3x' +
    '9ff13guxdfXH1xPorTwAAAAbQZuAvBD6J6ED66A+bwTYcrhb0dscT6EfVoYgAAAAG0GboLx2Dv4If8d8IfCHziiYn8dJ9ilgrweYWgAAABpBm8Hw' +
    'n6P0J+hPQWVx+BAwzXE4Gb4FjLXEQAAAADNBm+PCVAXMfX1x/1gi9aL0b+fod28EWM+f0Von4gdr0R9V46a2v/Aiawedf4rn+b6riIAAAAAmQZoA' +
    'vCNAfMEa/hAVxw4n1YMMcK5MCFxSxmBS4r8CdjcCVlwRYqAAAAAhQZojxYnxPCgjhRfwgK1G1+CjJfF/VcmBaxXwh8UOn9NAAAAAKkGaQLx+Bp/x' +
    'QjkPy+rRR+euJFcI/r/FL0Biy4HbiiZ/lwNGL+EB36EfqAAAACJBmmC8SM9Sid0I40Tx4niK5xHr+CE/CmBM4onFE+D7G/CEAAAAMkGagfFDf1iO' +
    'MP0fz/gL/HCPf84791xGBFwh8IfLX4ErQ7tEfL9YOsT/gQslfXIO19FwAAAATUGaoLzYEv//////////MO/eDDGYFzJ9YFDJXLgRNX38VgeM3q14' +
    'FTMKJ/vAgfAla+K+b8VqJ+cd/Y6T7wJ3wLWh39Y79/EH1r+T6wMXAAAAIkGawfCeBoxov9COC7dcI4MvWrRq/krhCuEB39CAr8CRiYAAAAAqQZrh' +
    '9ei+jhHWC7G11gbsIfeB4+BE/r0X9fYomL+WuL+Vf98V8IXzCuKgAAAAF0GbALwjgYscflrjK7rh5fyjpPQjXBVAAAAAMkGbIf4Hr//iOLvWq+1/' +
    'FCO/jK7EffCH9/f3xt933fFXy4OvfFX3f/Qr1/E399X2v4qAAAAAI0GbQfHYGn//HfGn6Pwj8IfE4FrP8TfP8SK++f9fz4FLECuoAAAAFkGbYLxY' +
    'joT2I42uI9egQq4QFKu+GYAAAAAZQZuAvGCOxHGCej8CUKJUVXOKWK9emFLEwAAAAB1Bm6D8aJ+uOPwgIWERHMO/o8cqtCGBCx+BYwh8IQAAABtB' +
    'm8C8cI4Qro/HH8/CeB2x+BOwh8IfGCuT4QgAAAAlQZvgvCAnjsDLxHHX2fquMX/gfe//Aqarij9fHCOvhD4Q+EBXUAAAACpBmgC/gYv///+I7Ecw' +
    'jr4Q+Ud2kEdn5PhD5a+uKvnHL6J+EPhD5hC9cTAAAAApQZogvHX0I4QOsopVGF//mwLWLFcl+v/B5kPxfxuBi38IfQrjvvAjZ4AAAAAyQZpAvG4D' +
    'x///xQjv4Q+TAQXEcX8nyjlXp/kX8lcR8IfGClkELL6+xSzYOsnq//gOjUAAAAAuQZpgvFCOhm940R0I+uXAUHELE1zfFH4arjfX0IjlXvARmUUs' +
    'TgLDeAqOI6riYAAAAC5BmoC8WJ5xROMW2O/RB1iMCxnPwifiR36EMDtjhSql/GinV4HjJgSsRQD+z3xMAAAAI0GaoL+DD////////iOf6X8d/XOI' +
    '4j4Q+EPhD8UsfgTsIfCEAAAAGUGawLwkv9fx47XoeEcJYCix+AosIfCHwhAAAAAfQZrgvCOApO/8cvo748//CH1gM7HfYpY34QrhCuxHGwAAAClB' +
    'mwC/6+jRm95F/ilhAQsIiiVG4C02KJxCxZ+ME8gpY8TyiFjBHHieoAAAADFBmyC8eI8R0MVexCxZ/wCS4Q+SgG9iz8tcZ8ICllwGpxi+i1/3yr+K' +
    'PzYDk4hYkQuAAAAAJ0GbQfGiNyYHbGH48/3yVr0WK8X+loBdeuJG909cPXq0ldYCwxd8fAAAACBBm2H+AsP//+I4z5F/Ofcvxgnz9/CHxR+b4Q+E' +
    'PhD4QgAAACVBm4Hxgncefu+hPFHl65sCliq4WwI2NP2v5RC/r6KX8UJ5l/CEAAAAIkGbo8XgGH/////xR5YRELCB+EfhAVyi9fRR/ErCAjhAVywA' +
    'AAArQZvD1gav//+J5BEriPkX8Z8IfCHwgIXELJgesgnnELMKJia5xSxPzr+JgAAAACFBm+P4CC//9f//+N9dctd/PXE/CHwh8IfCHxwnr4Q+EIA=',
  'base64',
)
