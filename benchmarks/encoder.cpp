// Encoder layers: of the size of small language models, and tiny ones, as used in sensors or on
// audio.
#include "benchmarks/encoder_contest.hpp"

int main(int argc, char** argv) {
  using namespace bench;
  return measure(
      argc, argv,
      {{"encoder/384,n=128", [] { return encoder_contest<encoder<1, 128, 384, 6, 1536>>(); }},
       {"encoder/384,n=128,batch=8",
        [] { return encoder_contest<encoder<8, 128, 384, 6, 1536>>(); }},
       {"encoder/int8", [] { return encoder_in_int8<encoder<1, 128, 384, 6, 1536>>(); }},
       {"encoder/768,n=128", [] { return encoder_contest<encoder<1, 128, 768, 12, 3072>>(); }},
       {"encoder/768,n=512", [] { return encoder_contest<encoder<1, 512, 768, 12, 3072>>(); }},
       {"tiny/32,n=16", [] { return encoder_contest<tiny32>(new_generated_module<tiny32>); }},
       {"tiny/16,n=8", [] { return encoder_contest<tiny16>(new_generated_module<tiny16>); }}});
}
