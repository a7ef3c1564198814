#include "benchmarks/peers/torch.hpp"

#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "benchmarks/peers/worker.hpp"

namespace bench {
namespace {

using json = nlohmann::ordered_json;

// A request for work, and its tensors.
class request {
 public:
  request(std::string work, json about) : about_(std::move(about)) {
    about_["work"] = std::move(work);
    about_["tensors"] = json::array();
  }
  request& with(const std::string& name, const json& extents, const floats& x) {
    return with(name, extents, "float32", std::as_bytes(std::span(x.data(), x.size())));
  }
  request& with(const std::string& name, const json& extents, const std::string& type,
                std::span<const std::byte> bytes) {
    about_["tensors"].push_back({{"name", name}, {"extents", extents}, {"type", type}});
    data_.push_back(bytes);
    return *this;
  }

  // Sends the request; the contender repeats the work in the process.
  contender made(const std::shared_ptr<worker>& process) const {
    process->ask(about_.dump(), data_);
    return {[process](std::int64_t n) {
              return std::stod(process->ask(json{{"work", "repeat"}, {"times", n}}.dump()));
            },
            [process] { return process->read(std::stoul(process->ask(R"({"work": "result"})"))); }};
  }

 private:
  json about_;
  std::vector<std::span<const std::byte>> data_;
};

const char* name_of(row_work kind) {
  switch (kind) {
    case row_work::softmax:
      return "softmax";
    case row_work::layer_norm:
      return "layer_norm";
    case row_work::gelu:
      return "gelu";
    case row_work::gelu_tanh:
      return "gelu_tanh";
    case row_work::exp:
      break;
  }
  return "exp";
}

}  // namespace

torch::torch(std::string name, std::string python, std::string script)
    : peer(std::move(name)), python_(std::move(python)), script_(std::move(script)) {}

// Starts the process on first use: it takes seconds.
std::shared_ptr<worker> torch::started() {
  if (!worker_) worker_ = std::make_shared<worker>(std::vector<std::string>{python_, script_});
  return worker_;
}

contender torch::product(const product_task& t) {
  return request("product", {{"packed", t.packed}})
      .with("x", {t.m, t.k}, t.x)
      .with("w", {t.k, t.n}, t.w)
      .made(started());
}

contender torch::attention(const attention_task& t) {
  const json extents{t.n, t.heads, t.depth};
  return request("attention", {{"causal", t.causal}})
      .with("q", extents, t.q)
      .with("k", extents, t.k)
      .with("v", extents, t.v)
      .made(started());
}

contender torch::encoder(const encoder_task& t) {
  request all("encoder", {{"heads", t.heads}, {"threads", t.threads}});
  all.with("x", {t.batch, t.n, t.embed}, t.x);
  const auto linear = [&](const std::string& name, const linear_weights& w, const json& extents) {
    all.with(name + ".weight", extents, w.weight)
        .with(name + ".bias", json::array({extents[0]}), w.bias);
  };
  linear("query", t.query, {t.embed, t.embed});
  linear("key", t.key, {t.embed, t.embed});
  linear("value", t.value, {t.embed, t.embed});
  linear("out", t.out, {t.embed, t.embed});
  linear("linear1", t.linear1, {t.hidden, t.embed});
  linear("linear2", t.linear2, {t.embed, t.hidden});
  linear("norm1", t.norm1, json::array({t.embed}));
  linear("norm2", t.norm2, json::array({t.embed}));
  return all.made(started());
}

contender torch::row(const row_task& t) {
  return request("row", {{"kind", name_of(t.kind)}})
      .with("x", {t.rows, t.columns}, t.x)
      .with("gain", json::array({t.columns}), t.gain)
      .with("bias", json::array({t.columns}), t.bias)
      .made(started());
}

contender torch::training(const training_task& t) {
  request all("training", {{"heads", t.heads},
                           {"layers", t.layers},
                           {"threads", t.threads},
                           {"checked_steps", training_task::checked_steps}});
  all.with("tokens", {t.batch, t.n}, "int32", std::as_bytes(std::span(t.tokens)));
  all.with("targets", {t.batch, t.n}, "int32", std::as_bytes(std::span(t.targets)));
  for (const auto& [name, p] : t.parameters) all.with(name, p.extents, p.values);
  return all.made(started());
}

}  // namespace bench
