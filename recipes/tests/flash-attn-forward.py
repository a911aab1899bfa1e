"""Run by machines that have a GPU: flash attention's forward pass agrees with PyTorch's own."""
import torch
from flash_attn import flash_attn_func


def main():
    torch.manual_seed(0)
    for head_size in (32, 64, 128):
        for causal in (False, True):
            q, k, v = (torch.randn(2, 256, 4, head_size, device="cuda", dtype=torch.float16) for _ in range(3))
            ours = flash_attn_func(q, k, v, causal=causal)
            theirs = torch.nn.functional.scaled_dot_product_attention(
                *(t.transpose(1, 2).float() for t in (q, k, v)), is_causal=causal).transpose(1, 2)
            worst = (ours.float() - theirs).abs().max().item()
            assert worst < 5e-3, f"head size {head_size}, causal {causal}: off by {worst}"
            print(f"head size {head_size}, causal {causal}: largest difference {worst:.1e}")


if __name__ == "__main__":
    main()
